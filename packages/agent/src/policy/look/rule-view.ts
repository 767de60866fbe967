import type { CompiledPolicy } from '@podwire/policy';
import { compact } from '@podwire/platform';

/** Where a rule comes from. */
export interface RuleView {
  /** The id of the policy. */
  readonly policy?: string | undefined;
  readonly tier?: string | undefined;
  /** `spec.ingress[0]` */
  readonly path?: string | undefined;
  readonly object?: string | undefined;
  readonly file?: string | undefined;
  readonly line?: number | undefined;
}

/** The object of a policy with the line of the rule, or else of the object. */
export function lineOf(
  { reference, origin }: Pick<CompiledPolicy, 'reference' | 'origin'>,
  path: string | undefined,
): Pick<RuleView, 'object' | 'file' | 'line'> {
  const { kind, namespace, name } = reference;
  const object = `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;
  const rule = path === undefined ? undefined : (origin?.lines?.[path] ?? origin?.lines?.[dotted(path)]);
  return { object, ...compact({ file: origin?.file, line: rule ?? origin?.line }) };
}

/** `spec.ingress[0]` as `spec.ingress.0` */
const dotted = (path: string): string => path.replace(/\[(\d+)\]/g, '.$1');
