/**
 * Replaces `$(NAME)` by the variable's value. `$$` is a literal `$`, so `$$(NAME)` stays `$(NAME)`; a reference to an unknown
 * variable stays as it stands (Kubernetes API, Container.command).
 */
export function expandVariables(text: string, lookup: (name: string) => string | undefined): string {
  return text.replace(/\$(?:\$|\(([^)]*)\))/g, (reference, name: string | undefined) => {
    if (name === undefined) return '$';
    return lookup(name) ?? reference;
  });
}
