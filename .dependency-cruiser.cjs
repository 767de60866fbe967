/** The arrows of docs/architecture.md: every package may import only what stands below it. */
const below = {
  errors: [],
  addresses: [],
  linux: [],
  cni: [],
  netlink: ['linux', 'addresses'],
  nftables: ['linux', 'netlink', 'addresses'],
  engine: ['errors', 'addresses', 'linux', 'netlink', 'nftables'],
  ipam: ['errors', 'addresses'],
  'networks/contract': ['engine', 'addresses'],
  'networks/traffic': ['networks/contract', 'engine', 'addresses', 'errors'],
  'networks/routed': ['networks/contract', 'networks/traffic', 'engine', 'addresses', 'errors'],
  'local-api': ['errors', 'linux'],
  agent: [
    'local-api',
    'errors',
    'addresses',
    'linux',
    'netlink',
    'nftables',
    'cni',
    'engine',
    'ipam',
    'networks/contract',
    'networks/traffic',
    'networks/routed',
  ],
  tracing: [],
  quantity: [],
  rim: [],
  cri: [],
  'pod-network': ['rim', 'quantity', 'errors', 'linux', 'cni', 'tracing'],
  embedded: ['rim', 'errors', 'linux', 'cri', 'pod-network', 'tracing'],
  sandbox: ['rim', 'errors', 'linux', 'cri', 'pod-network', 'tracing'],
  podlet: ['rim', 'quantity', 'local-api', 'errors', 'addresses', 'linux', 'cri', 'tracing'],
  cli: [
    'rim',
    'local-api',
    'tracing',
    'cri',
    'pod-network',
    'embedded',
    'sandbox',
    'podlet',
    'errors',
    'addresses',
    'linux',
    'netlink',
    'nftables',
    'cni',
    'engine',
    'ipam',
    'networks/contract',
    'networks/routed',
    'agent',
  ],
  testkit: ['errors', 'addresses', 'linux', 'netlink', 'nftables', 'cni', 'cri'],
  bench: ['testkit', 'cni', 'cri', 'linux', 'local-api', 'podlet', 'tracing', 'addresses', 'errors'],
};
const escape = (name) => name.replace('/', '\\/');
const arrows = Object.entries(below).map(([name, allowed]) => ({
  name: `${name.replace('/', '-')}-looks-down-only`,
  severity: 'error',
  from: { path: `^packages/${escape(name)}/src` },
  to: { path: '^packages/', pathNot: `^packages/(${[name, ...allowed].map(escape).join('|')})/` },
}));

module.exports = {
  forbidden: [
    ...arrows,
    {
      // A circle through an import() is none when the modules are loaded.
      name: 'no-circular',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['dynamic-import'] } },
    },
    {
      // The twin is one file that is installed alone.
      name: 'plugin-stands-alone',
      severity: 'error',
      from: { path: '^plugin/(podwire-cni|scan)\\.ts' },
      to: { pathNot: '^plugin/', dependencyTypesNot: ['core'] },
    },
    {
      name: 'foreign-functions-only-in-linux',
      severity: 'error',
      from: { path: '^packages/', pathNot: '^packages/linux/' },
      to: { path: 'koffi' },
    },
    {
      name: 'models-do-no-input-output',
      severity: 'error',
      from: { path: '^packages/(networks|ipam|addresses|errors)/.*src' },
      // Hashing is computation: names of links are digests.
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?crypto$' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)dist/' },
    includeOnly: '^(packages|plugin)/|node_modules|^[a-z:_/]+$',
    // `@podwire/x` is its source here: the build is not looked at.
    tsConfig: { fileName: '.dependency-cruiser.tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'types'] },
  },
};
