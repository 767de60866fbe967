/** A flow of a bridge for people. Pure. */
import { type Flow, formatFlow } from '@podwire/openflow';
import type { Colors } from '../io.js';
import type { FlowView } from './view.js';

const ACTIONS = ' actions=';

/** In one line, or match and actions each on as many as they take. */
export function wrapFlow(text: string, room: number): string[] {
  if (text.length <= room) return [text];
  return text.split(ACTIONS).flatMap((part, index) => {
    const lines = [index === 0 ? '' : ACTIONS.trimStart()];
    for (const word of part.split(/(?<=,)/)) {
      const line = lines.at(-1)!;
      if (line !== '' && line.length + word.length > room) lines.push(word);
      else lines[lines.length - 1] = line + word;
    }
    return lines;
  });
}

export function describeOwner({ owner, mark = 0 }: FlowView, paint: Colors): string {
  if (owner === 'others') return owner;
  return paint.green(mark === 0 ? owner : `${owner} 0x${mark.toString(16).padStart(8, '0')}`);
}

/** In the words of ovs-ofctl(8), without what stands beside it: table, and a cookie of ours. */
export function describeFlow({ flow, owner }: FlowView): string {
  const { cookie, ...others } = flow;
  const text = formatKnown(owner === 'others' && cookie !== undefined ? { ...others, cookie } : others);
  return text.replace(/table=\d+,/, '').replace(',actions=', ACTIONS);
}

/** Actions that the library does not know have no text. */
function formatKnown(flow: Flow): string {
  try {
    return formatFlow(flow);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const { actions: _, write: __, ...others } = flow;
    return formatFlow(others).replace(/,actions=.*/s, ',actions=(unknown: -o json has the bytes)');
  }
}
