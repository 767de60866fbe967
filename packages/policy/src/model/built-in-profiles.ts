import type { Profile, Rule } from './policy.js';

const name = 'projectcalico-default-allow';
const allow = (path: string): readonly Rule[] => [{ action: 'allow', source: [], destination: [], path }];

/**
 * Calico's host endpoints of its own making have this profile, which is in no datastore of Calico: a host endpoint that names it is
 * open where no policy governs it. An object of the name takes its place.
 */
const allowByDefault: Profile = {
  name,
  reference: { apiVersion: 'projectcalico.org/v3', kind: 'Profile', name },
  labelsToApply: {},
  ingress: allow('spec.ingress[0]'),
  egress: allow('spec.egress[0]'),
};

/** Profiles that are there without an object, by name. */
export const builtInProfiles: ReadonlyMap<string, Profile> = new Map([[name, allowByDefault]]);
