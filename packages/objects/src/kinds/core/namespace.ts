import { labelRule } from '@podwire/apimachinery';
import { z } from 'zod';
import { defineKind } from '../define-kind.js';
import { clusterMetadata, typeFields } from '../shared/metadata.js';

const schema = z.strictObject({
  ...typeFields('v1', 'Namespace'),
  metadata: clusterMetadata(labelRule),
  spec: z
    .strictObject({
      finalizers: z.array(z.string().max(253)).max(64).optional().describe('Kept for an API server.'),
    })
    .optional()
    .describe('Nothing that Podwire reads.'),
});

export type Namespace = z.output<typeof schema>;

/** `kubernetes.io/metadata.name` is a label of every namespace; who reads facts adds it. */
export const namespaceKind = defineKind<Namespace>({
  apiVersion: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  shortNames: ['ns'],
  namespaced: false,
  summary: 'Labels of a namespace. A namespace without one exists as soon as a pod is in it.',
  schema,
  columns: [],
});
