import { expect } from 'vitest';
import type { LocalPlace } from '../src/local-defaults.js';
import { readManifests } from '../src/manifests.js';
import type { Pod } from '../src/pod.js';
import { formatProblem } from '../src/problem.js';

export const place: LocalPlace = { source: 'file', origin: 'web.yaml', node: 'Node-1', nameSuffix: 'none' };

/** The only pod of a text that has nothing wrong. */
export function readOne(text: string, at: LocalPlace = place): Pod {
  const { pods, problems } = readManifests(text, at);
  if (problems.length > 0 || pods.length !== 1) throw new Error(problems.map(formatProblem).join('\n'));
  return pods[0]!;
}

export function problemsOf(text: string): string[] {
  return readManifests(text, place).problems.map(formatProblem);
}

/** A pod with these fields in its spec beside its one container. */
export function withSpec(rest: string): string {
  return `apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers: [{name: main, image: busybox}]
${rest
  .split('\n')
  .map((line) => `  ${line}`)
  .join('\n')}`;
}

/** A pod whose one container has these fields. */
export function withContainer(rest: string): string {
  return `apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  volumes: [{name: data, emptyDir: {}}]
  containers: [{name: main, image: busybox, ${rest}}]`;
}

export function withMetadata(rest: string): string {
  return `apiVersion: v1
kind: Pod
metadata: {${rest}}
spec: {containers: [{name: main, image: busybox}]}`;
}

/** Exactly one problem, which names the field and says this. */
export function checkProblem(text: string, field: string, message: string | RegExp): void {
  const problems = problemsOf(text);
  expect(problems).toHaveLength(1);
  const at = problems[0]!.indexOf(`: ${field}: `);
  expect(problems[0]).toMatch(/^web\.yaml:\d+:\d+: /);
  expect(problems[0]).toContain(`: ${field}: `);
  const words = problems[0]!.slice(at + field.length + 4);
  if (typeof message === 'string') expect(words).toBe(message);
  else expect(words).toMatch(message);
}
