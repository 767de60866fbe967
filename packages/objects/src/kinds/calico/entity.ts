/** One end of a connection, as Calico's rules describe it. */
import { labelRule } from '@podwire/apimachinery';
import { z } from 'zod';
import { named, net } from '../shared/text.js';
import { calicoPort, namespaceSelector, selector, unsupported } from './text.js';

const mostNets = 10_000;
const mostPorts = 1000;

const services = z.strictObject({
  name: named(labelRule).describe('The name of the service.'),
  namespace: named(labelRule)
    .optional()
    .describe('Its namespace; absent: that of the policy, which a global one does not have.'),
});

const serviceAccounts = z.strictObject({
  names: z
    .array(z.string().min(1).max(253))
    .max(1000)
    .optional()
    .describe('Names of service accounts, any of them.'),
  selector: unsupported('labels of service accounts are not known here; use `names`'),
});

const entity = z.strictObject({
  nets: z.array(net).max(mostNets).optional().describe('Prefixes or addresses, any of them.'),
  notNets: z.array(net).max(mostNets).optional().describe('Prefixes or addresses, none of them.'),
  selector: selector
    .optional()
    .describe(
      "Pods, network sets and host endpoints by their labels: app == 'web' && !has(old). In a policy of a namespace those of the namespace, unless namespaceSelector says which.",
    ),
  notSelector: selector.optional().describe('Nothing that has such labels, in whatever namespace.'),
  namespaceSelector: namespaceSelector
    .optional()
    .describe(
      "What lies in namespaces with these labels. global(): what lies in none, which team != 'a' matches, too.",
    ),
  services: services.optional().describe('The endpoints of a service, by name.'),
  ports: z
    .array(calicoPort)
    .max(mostPorts)
    .optional()
    .describe('Ports, any of them: 80, 8000:8080, or a name.'),
  notPorts: z.array(calicoPort).max(mostPorts).optional().describe('Ports, none of them.'),
  serviceAccounts: serviceAccounts.optional().describe('Pods that run under one of these service accounts.'),
  domains: unsupported('nothing here resolves domain names'),
});

export type CalicoEntity = z.output<typeof entity>;

/** Beside a service nothing else may say who is meant. */
const besideServices = [
  'selector',
  'notSelector',
  'namespaceSelector',
  'nets',
  'notNets',
  'serviceAccounts',
] as const;

const isGiven = (value: unknown): boolean =>
  value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0);

const checked = entity.superRefine((read, context) => {
  if (read.services === undefined) return;
  for (const field of besideServices)
    if (isGiven(read[field]))
      context.addIssue({ code: 'custom', path: [field], message: 'must not stand beside `services`' });
});

export const sourceEntity = checked.superRefine((read, context) => {
  for (const field of ['ports', 'notPorts'] as const)
    for (const [index, port] of (read[field] ?? []).entries())
      if (typeof port === 'string' && !/^[\d:]+$/.test(port))
        context.addIssue({
          code: 'custom',
          path: [field, index],
          message: 'is the name of a port, which is not supported for a source; write its number',
        });
});

export const destinationEntity = checked.superRefine((read, context) => {
  if (read.services === undefined) return;
  for (const field of ['ports', 'notPorts'] as const)
    if (isGiven(read[field]))
      context.addIssue({
        code: 'custom',
        path: [field],
        message: 'must not stand beside `services`, which has ports of its own',
      });
});
