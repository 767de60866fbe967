/** Hidden files and editors' copies are no manifests. */
export function isManifestName(name: string): boolean {
  return !name.startsWith('.') && !name.endsWith('~');
}
