/** Hidden files and editors' copies are nobody's manifests. */
export function isManifestName(name: string): boolean {
  return !name.startsWith('.') && !name.endsWith('~');
}
