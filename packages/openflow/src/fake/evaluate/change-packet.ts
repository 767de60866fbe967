/** Actions that change the packet alone. Fields that it does not have stay so; ovs-actions(7). */
import type { Action } from '../../actions.js';
import { parseFieldValue } from '../../field-value.js';
import type { Packet } from './packet.js';

/** Carries out an action of this kind; false for the others. */
export function changePacket(action: Action, packet: Packet): boolean {
  switch (action.type) {
    case 'set_field':
      if (packet.has(action.field))
        packet.set(action.field, parseFieldValue(action.field, action.value).value);
      return true;
    case 'load':
      if (packet.has(action.to.field)) packet.write(action.to, BigInt(action.value));
      return true;
    case 'move':
      if (packet.has(action.from.field) && packet.has(action.to.field))
        packet.write(action.to, packet.read(action.from));
      return true;
    case 'push':
      packet.stack.push(packet.read(action.from));
      return true;
    case 'pop': {
      const value = packet.stack.pop();
      if (value !== undefined) packet.write(action.to, value);
      return true;
    }
    case 'push_vlan':
      packet.pushTag();
      return true;
    case 'pop_vlan':
      packet.popTag();
      return true;
    default:
      return false;
  }
}
