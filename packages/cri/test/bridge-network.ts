import path from 'node:path';

/** A network of Debian's plugins, whose state lies below `directory`. */
export const bridgeNetwork = (directory: string): object => ({
  cniVersion: '0.4.0',
  name: 'bridged',
  plugins: [
    {
      type: 'bridge',
      bridge: 'cni0',
      isGateway: true,
      ipam: {
        type: 'host-local',
        dataDir: path.join(directory, 'host-local'),
        ranges: [[{ subnet: '10.88.0.0/24' }]],
        routes: [{ dst: '0.0.0.0/0' }],
      },
    },
  ],
});
