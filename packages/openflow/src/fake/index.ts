export { FakeSwitch, type FakeSwitchOptions } from './switch.js';
