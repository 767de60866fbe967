export type { BgpNeighbour, BgpSession, BgpView } from './contract.js';
export { askBird, type BirdReply } from './control.js';
export { type BirdDaemon, type BirdDaemonOptions, startBird } from './daemon.js';
export { renderBirdConfig } from './render.js';
export { type BgpSpeaker, type BgpSpeakerOptions, createBgpSpeaker, writeBirdConfig } from './speaker.js';
