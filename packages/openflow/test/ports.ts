import type { PortDescription } from '@podwire/openflow';

/** Ports as those of the bridge of a real switch in tests. */
export const nine: readonly PortDescription[] = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((port) => ({
  ...{ port, name: `p${port}`, mac: `02:00:00:00:00:0${port}`, isDown: false, hasLink: true },
}));
