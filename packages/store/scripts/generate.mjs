/**
 * Writes the TypeScript of etcd's messages from `proto/`, with protoc (Debian: protobuf-compiler) and ts-proto.
 * `node generate.mjs [DIRECTORY]`; without a directory, those in `src/etcd/generated` are replaced.
 */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const protos = path.join(root, 'proto');
const target = path.resolve(process.argv[2] ?? path.join(root, 'src/etcd/generated'));

const options = [
  'esModuleInterop=true',
  'importSuffix=.js',
  // Revisions are numbers: 2^53 of them last for ever. Ids have 64 bits, and are marked as text in the .proto files.
  'forceLong=number',
  'useJsTypeOverride=true',
  // `enum` cannot be erased by stripping types.
  'enumsAsLiterals=true',
  'unrecognizedEnum=false',
  'outputJsonMethods=false',
  'outputServices=generic-definitions',
  'exportCommonSymbols=false',
  'useOptionals=messages',
  'useReadonlyTypes=true',
  'useExactTypes=false',
  'env=node',
  // Another version of protoc that writes the same text shall not make the files differ.
  'annotateFilesWithVersion=false',
];

const plugin = path.join(
  path.dirname(createRequire(import.meta.url).resolve('ts-proto/package.json')),
  'protoc-gen-ts_proto',
);
const names = fs.readdirSync(protos).filter((name) => name.endsWith('.proto'));

fs.rmSync(target, { recursive: true, force: true });
fs.mkdirSync(target, { recursive: true });
execFileSync(
  'protoc',
  [
    `--proto_path=${protos}`,
    `--plugin=protoc-gen-ts_proto=${plugin}`,
    `--ts_proto_out=${target}`,
    `--ts_proto_opt=${options.join(',')}`,
    ...names.map((name) => path.join(protos, name)),
  ],
  { stdio: 'inherit' },
);
