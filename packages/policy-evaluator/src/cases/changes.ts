/** Policies and labels that come, change and go. */
import { type CaseStep, networkPolicy as policy, type PolicyCase } from './case.js';

const category = 'change';

const sequence = (name: string, ...steps: readonly CaseStep[]): PolicyCase => ({
  category,
  name,
  steps: () => steps,
});

const denyX = policy('x/policy', {});
const allowX = policy('x/policy', { ingress: [{}] });
const fromNew = policy('x/policy', {
  ingress: [{ from: [{ namespaceSelector: { matchLabels: { new: 'yes' } } }] }],
});
const fromNewPods = policy('x/policy', {
  ingress: [{ from: [{ podSelector: { matchLabels: { new: 'yes' } } }] }],
});
const forNew = policy('x/policy', { podSelector: { matchLabels: { new: 'yes' } } });

export const changeCases: readonly PolicyCase[] = [
  sequence(
    'a policy comes and goes',
    { objects: [], isAllowed: () => true },
    { objects: [denyX], isAllowed: (_, to) => to.namespace !== 'x' },
    { objects: [], isAllowed: () => true },
  ),
  sequence(
    'a policy changes from deny to allow and back',
    { objects: [denyX], isAllowed: (_, to) => to.namespace !== 'x' },
    { objects: [allowX], isAllowed: () => true },
    { objects: [denyX], isAllowed: (_, to) => to.namespace !== 'x' },
  ),
  sequence(
    'a namespace gets a label and loses it',
    { objects: [fromNew], isAllowed: (_, to) => to.namespace !== 'x' },
    {
      objects: [fromNew],
      namespaceLabels: { y: { ns: 'y', new: 'yes' } },
      isAllowed: (from, to) => to.namespace !== 'x' || from.namespace === 'y',
    },
    { objects: [fromNew], isAllowed: (_, to) => to.namespace !== 'x' },
  ),
  sequence(
    'a peer gets a label and loses it',
    { objects: [fromNewPods], isAllowed: (_, to) => to.namespace !== 'x' },
    {
      objects: [fromNewPods],
      podLabels: { 'x/b': { pod: 'b', new: 'yes' } },
      isAllowed: (from, to) => to.namespace !== 'x' || (from.namespace === 'x' && from.name === 'b'),
    },
    { objects: [fromNewPods], isAllowed: (_, to) => to.namespace !== 'x' },
  ),
  sequence(
    'a target gets a label and loses it',
    { objects: [forNew], isAllowed: () => true },
    {
      objects: [forNew],
      podLabels: { 'x/b': { pod: 'b', new: 'yes' } },
      isAllowed: (_, to) => !(to.namespace === 'x' && to.name === 'b'),
    },
    { objects: [forNew], isAllowed: () => true },
  ),
];
