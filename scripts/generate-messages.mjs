/**
 * Writes the TypeScript of a package's messages from its `proto/`, with protoc (Debian: protobuf-compiler) and ts-proto.
 * `node generate-messages.mjs PACKAGE [DIRECTORY]`; without a directory, those in the package are replaced.
 */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const packages = {
  cri: {
    target: 'src/generated',
    // int64 counts nanoseconds since 1970, which is beyond what a number holds exactly.
    numbers: ['forceLong=bigint'],
  },
  store: {
    target: 'src/etcd/generated',
    // Revisions are numbers: 2^53 of them last for ever. Ids have 64 bits, and are marked as text in the .proto files.
    numbers: ['forceLong=number', 'useJsTypeOverride=true'],
  },
};

const shared = [
  'esModuleInterop=true',
  'importSuffix=.js',
  // `enum` cannot be erased by stripping types.
  'enumsAsLiterals=true',
  'unrecognizedEnum=false',
  // Only the wire's format is used.
  'outputJsonMethods=false',
  'outputServices=generic-definitions',
  // Else every file exports the same names, which one index cannot hand on.
  'exportCommonSymbols=false',
  'useOptionals=messages',
  'useReadonlyTypes=true',
  // Object literals are checked without them, and they refuse arrays that can be changed.
  'useExactTypes=false',
  'env=node',
  // Another version of protoc that writes the same text shall not make the files differ.
  'annotateFilesWithVersion=false',
];

const [name, directory] = process.argv.slice(2);
if (!Object.hasOwn(packages, name ?? ''))
  throw new Error(`which package: ${Object.keys(packages).join(', ')}?`);

const root = path.resolve(import.meta.dirname, '../packages', name);
const protos = path.join(root, 'proto');
const target = path.resolve(directory ?? path.join(root, packages[name].target));
const plugin = path.join(
  path.dirname(createRequire(import.meta.url).resolve('ts-proto/package.json')),
  'protoc-gen-ts_proto',
);

fs.rmSync(target, { recursive: true, force: true });
fs.mkdirSync(target, { recursive: true });
execFileSync(
  'protoc',
  [
    `--proto_path=${protos}`,
    `--plugin=protoc-gen-ts_proto=${plugin}`,
    `--ts_proto_out=${target}`,
    `--ts_proto_opt=${[...shared, ...packages[name].numbers].join(',')}`,
    ...fs
      .readdirSync(protos)
      .filter((file) => file.endsWith('.proto'))
      .map((file) => path.join(protos, file)),
  ],
  { stdio: 'inherit' },
);
