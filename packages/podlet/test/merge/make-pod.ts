import { pendingStatus, type Pod, readApiPod } from '@podwire/pod-spec';

export interface PodSketch {
  readonly uid: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly image?: string;
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly phase?: Pod['status']['phase'];
}

export function makePod({
  uid,
  name = uid,
  image = 'busybox',
  phase = 'Pending',
  ...metadata
}: PodSketch): Pod {
  const { pod, complaints } = readApiPod({
    metadata: { uid, name, ...metadata },
    spec: { containers: [{ name: 'main', image }] },
  });
  if (complaints.length > 0) throw new Error(complaints.join());
  return { ...pod, status: { ...pendingStatus, phase } };
}
