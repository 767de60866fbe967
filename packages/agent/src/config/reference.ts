import { networkModels } from '../models.js';
import { liveFields } from '../reload/merge.js';
import { configShape, optionShapes, type ShapeNode } from './shape.js';

const preamble = `# Configuration of the agent

<!-- Made from packages/agent/src/config/schema.ts by \`node packages/agent/dist/src/config/write-reference.js\`. -->

\`bin/podwire agent --config FILE\` reads one YAML file. An empty file is a complete configuration. Unknown keys are
errors, and all problems of a file are reported at once, each with its line:

\`\`\`
/etc/podwire/agent.yaml:3:5: networks[0].pool: unknown key; did you mean pools?
\`\`\`

Durations are a number with a unit: \`500ms\`, \`30s\`, \`5m\`, \`1h\`.

\`\`\`yaml
nodeName: node1
socket: /run/podwire/cni.sock
stateDir: /run/podwire
networks:
  - name: default
    model: ${networkModels[0].name}
    pools: [{ cidr: 10.244.0.0/16, blockSize: 26 }, { cidr: fd00:244::/48, blockSize: 122 }]
    natOutgoing: true
\`\`\`

A node of a cluster has no pools of its own ([cluster.md](cluster.md)):

\`\`\`yaml
nodeName: node1
networks: [{ name: default }]
cluster:
  store: { kind: etcd, endpoints: [http://192.0.2.5:2379] }
  labels: { zone: a }
\`\`\`
`;

const reloadPart = `## Changing it while the agent runs

\`podwire config reload\`, \`systemctl reload podwire-agent\` or SIGHUP lets the agent read its file again. These fields
change at once:

${liveFields.map((field) => `- \`${field}\``).join('\n')}

Of a pool that is there, \`reserved\`, \`disabled\` and \`natOutgoing\` change at once, \`cidr\`, \`blockSize\` and
\`allocation\` do not. A pool that is taken out of the file stays as long as a pod has an address of it. Everything else
waits for a restart of the agent, which pods do not notice either. \`podwire status\` shows when which file was loaded,
its hash, and what waits. A file that is invalid changes nothing: the log, the command and \`podwire status\` say line and
column ([decision 37](decisions/0037-what-a-reload-changes.md)).
`;

const pluginPart = `## Keys of the plugin configuration

A container runtime reads a CNI configuration (\`/etc/cni/net.d/*.conflist\`). The entry of \`podwire-cni\` in \`plugins\`
may have:

- \`socket\`: where the agent listens, the same path as \`socket\` above.
- \`network\`: which of \`networks\` the pods get. Without it: the network with the name of the CNI network, or else
  \`default\`, or else the first one.
- \`capabilities\`: \`portMappings\`, \`bandwidth\`, \`ips\`, \`mac\`, \`dns\` and
  \`io.kubernetes.cri.pod-annotations\` are understood.
- \`args.cni.ips\`: addresses for the pod, as a list.

A pod can ask for its address in these ways; the first one that is present counts: the capability \`ips\`, \`IP=\` in
\`CNI_ARGS\`, \`args.cni.ips\`, the annotation \`cni.projectcalico.org/ipAddrs\`. The annotations
\`cni.projectcalico.org/ipv4pools\`, \`ipv6pools\` and \`hwAddr\` are read too, from the capability
\`io.kubernetes.cri.pod-annotations\`, from \`CNI_ARGS\` and from \`args\`, in this order.
`;

/** docs/configuration.md, made from the schema. */
export function renderConfigReference(): string {
  const options = [...optionShapes(networkModels)].map(([model, shape]) =>
    renderObject(`### \`networks[].options\` of the model \`${model}\``, 'networks[].options', shape),
  );
  return [preamble, renderObject('## Keys', '', configShape()), ...options, reloadPart, pluginPart].join(
    '\n',
  );
}

/** One list for the object, then one for each object inside it. */
function renderObject(heading: string, path: string, node: ShapeNode): string {
  const fields = Object.entries(node.properties ?? {});
  const items = fields.map(([key, field]) => renderItem(key, field, node.required?.includes(key) ?? false));
  const inner = fields.flatMap(([key, field]) => renderInner(path === '' ? key : `${path}.${key}`, field));
  return [`${heading}\n\n${items.join('\n')}\n`, ...inner].join('\n');
}

function renderInner(path: string, field: ShapeNode): string[] {
  const [node, name] = field.items === undefined ? [field, path] : [field.items, `${path}[]`];
  return node.properties === undefined ? [] : [renderObject(`### \`${name}\``, name, node)];
}

function renderItem(key: string, field: ShapeNode, required: boolean): string {
  const example = field.example === undefined ? '' : ` Example: \`${String(field.example)}\`.`;
  const meaning = `${field.description}${example}`;
  return wrap(`- \`${key}\` (${renderType(field)}${renderDefault(field, required)}): ${meaning}`);
}

/** Lines of 120 characters at most, the later ones indented. */
function wrap(text: string): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (`${line} ${word}`.length > 120) {
      lines.push(line);
      line = `  ${word}`;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].join('\n');
}

function renderType(field: ShapeNode): string {
  if (field.typeText !== undefined) return field.typeText;
  if (field.enum !== undefined) return field.enum.map((value) => `\`${value}\``).join(', ');
  if (field.type === 'array') {
    return `list of ${field.items?.properties === undefined ? `${field.items?.type}s` : 'objects'}`;
  }
  if (field.type === 'string' && field.pattern?.includes('ms') === true) return 'duration';
  return field.type ?? 'any';
}

function renderDefault(field: ShapeNode, required: boolean): string {
  if (required) return ', **required**';
  if (field.defaultText?.startsWith('**')) return `, ${field.defaultText}`;
  if (field.defaultText !== undefined) return `; default: ${field.defaultText}`;
  if (field.type === 'object' || field.default === undefined) return '';
  return `; default: \`${JSON.stringify(field.default).replaceAll('"', '')}\``;
}
