/** Requests of the protocol, with the answers that they end with. Pure. */
import type { FlowSelector } from '../flow.js';
import type { BundleStep, Change, DumpKind, Message } from '../message.js';
import type { ExchangePlan } from './exchange.js';

export interface Call extends Omit<ExchangePlan, 'first' | 'count'> {
  readonly messages: readonly Message[];
  /** One more message, which is sent when an answer says so. */
  readonly last?: Message;
  readonly isReadyForLast?: (message: Message, hasFailed: boolean) => boolean;
  /** Begins with the messages; the last one is sent when it resolves, and the call fails when it throws. */
  readonly guard?: () => Promise<void>;
  /** Called when all messages but the last one have left. */
  readonly onSent?: () => void;
}

export function dumpRequests(kind: DumpKind, selector?: FlowSelector | readonly FlowSelector[]): Message[] {
  if (selector === undefined) return [{ type: 'dump_request', kind }];
  return [selector].flat().map((one): Message => ({ type: 'dump_request', kind, selector: one }));
}

export const controlBundle = (bundle: number, step: BundleStep): Message => ({
  type: 'bundle_control',
  bundle,
  step,
});

const bundleMessages = (bundle: number, changes: readonly Change[]): Message[] => [
  controlBundle(bundle, 'open'),
  ...changes.map((change): Message => ({ type: 'bundle_add', bundle, change })),
  controlBundle(bundle, 'close'),
];

/** A change that is refused when it is added is missing from the bundle, and the others would be made. */
export const carefulBundle = (bundle: number, changes: readonly Change[]): Call => ({
  what: 'apply a bundle',
  messages: bundleMessages(bundle, changes),
  own: { from: 1, count: changes.length },
  last: controlBundle(bundle, 'commit'),
  onReply: (message, hasFailed) => isStep(message, hasFailed ? 'closed' : 'committed'),
  isReadyForLast: (message, hasFailed) => isStep(message, 'closed') && !hasFailed,
});

export const eagerBundle = (bundle: number, changes: readonly Change[]): Call => ({
  what: 'apply a bundle',
  messages: [...bundleMessages(bundle, changes), controlBundle(bundle, 'commit')],
  own: { from: 1, count: changes.length },
  onReply: (message) => isStep(message, 'committed'),
});

export const isBarrier = ({ type }: Message): boolean => type === 'barrier_reply';

const isStep = (message: Message, step: BundleStep): boolean =>
  message.type === 'bundle_control' && message.step === step;
