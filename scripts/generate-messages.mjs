/**
 * Writes the TypeScript of a package's messages from its `proto/`, with protoc (Debian: protobuf-compiler).
 * `node generate-messages.mjs PACKAGE [DIRECTORY]`; without a directory, those in the package are replaced.
 */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fromBinary } from '@bufbuild/protobuf';
import {
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  FieldOptions_JSType as JsType,
  FileDescriptorSetSchema,
} from '@bufbuild/protobuf/wkt';
import { format, resolveConfig } from 'prettier';

const packages = {
  // int64 counts nanoseconds since 1970, which is beyond what a number holds exactly.
  cri: { target: 'src/generated', int64: 'int64' },
  // Revisions are numbers: 2^53 of them last for ever. Ids have 64 bits, and are marked as text in the .proto files.
  store: { target: 'src/etcd/generated', int64: 'int64Number' },
};

/** The scalars of `@podwire/protobuf` and their types. */
const types = {
  string: 'string',
  bytes: 'Buffer',
  bool: 'boolean',
  double: 'number',
  int32: 'number',
  uint32: 'number',
  int64: 'bigint',
  uint64: 'bigint',
  int64Number: 'number',
  int64Text: 'string',
  uint64Text: 'string',
};

const [name, directory] = process.argv.slice(2);
if (!Object.hasOwn(packages, name ?? ''))
  throw new Error(`which package: ${Object.keys(packages).join(', ')}?`);
const { target: usualTarget, int64 } = packages[name];
const root = path.resolve(import.meta.dirname, '../packages', name);
const target = path.resolve(directory ?? path.join(root, usualTarget));

fs.rmSync(target, { recursive: true, force: true });
fs.mkdirSync(target, { recursive: true });
const layout = await resolveConfig(path.join(root, 'src/messages.ts'));
const files = readDescriptors(path.join(root, 'proto'));
/** Where each type is declared: `.runtime.v1.Mount` is `Mount` of `./container.js`. */
const declared = new Map(files.flatMap(listDeclared));
for (const file of files)
  fs.writeFileSync(
    path.join(target, file.name.replace(/proto$/, 'ts')),
    await format(writeFile(file), { ...layout, parser: 'typescript' }),
  );

function readDescriptors(protos) {
  const names = fs.readdirSync(protos).filter((file) => file.endsWith('.proto'));
  const set = path.join(target, 'descriptors');
  execFileSync(
    'protoc',
    [`--proto_path=${protos}`, '--include_source_info', `--descriptor_set_out=${set}`, ...names.sort()],
    { stdio: 'inherit' },
  );
  const { file } = fromBinary(FileDescriptorSetSchema, fs.readFileSync(set));
  fs.rmSync(set);
  return file;
}

function listDeclared({ name: file, package: of, messageType, enumType }) {
  const module = file.replace(/proto$/, 'js');
  const listIn = (prefix, outer) => (type) => [
    [`${prefix}.${type.name}`, { module, name: `${outer}${type.name}`, isMap: type.options?.mapEntry }],
    ...[...(type.nestedType ?? []), ...(type.enumType ?? [])].flatMap(
      listIn(`${prefix}.${type.name}`, `${outer}${type.name}_`),
    ),
  ];
  return [...messageType, ...enumType].flatMap(listIn(`.${of}`, ''));
}

function writeFile(file) {
  const context = { module: file.name.replace(/proto$/, 'js'), used: new Set(), imports: new Map() };
  const comments = new Map(
    file.sourceCodeInfo.location.map((each) => [each.path.join(), each.leadingComments ?? '']),
  );
  const comment = (place, indent = '') => toComment(comments.get(place) ?? '', indent);
  const body = [
    ...file.enumType.map((type, index) => writeEnum(type, type.name, `5,${index}`, comment)),
    ...file.messageType.flatMap((type, index) => writeMessage(context, type, '', `4,${index}`, comment)),
    ...file.service.map((service, index) =>
      writeService(context, file.package, service, `6,${index}`, comment),
    ),
  ];
  return [
    `// Written by scripts/generate-messages.mjs from ${file.name}. Do not edit.`,
    ...writeImports(context),
    // The comment of `syntax`, which begins the file.
    `\n${comment('12')}`,
    body.join('\n'),
  ].join('\n');
}

function writeImports({ used, imports }) {
  const runtime = used.size === 0 ? [] : [['@podwire/protobuf', [...used, 'type MessageType']]];
  const others = [...imports].sort().map(([module, names]) => [`./${module}`, names]);
  return [...runtime, ...others].map(
    ([from, names]) => `import { ${[...names].sort().join(', ')} } from '${from}';`,
  );
}

function writeEnum({ value: values }, typeName, place, comment) {
  const lines = values.map(
    ({ name: value, number }, index) => `${comment(`${place},2,${index}`, '  ')}  ${value}: ${number},\n`,
  );
  return [
    `${comment(place)}export const ${typeName} = {\n${lines.join('')}} as const;\n`,
    `export type ${typeName} = (typeof ${typeName})[keyof typeof ${typeName}];\n`,
  ].join('\n');
}

function writeMessage(context, type, outer, place, comment) {
  const typeName = `${outer}${type.name}`;
  context.used.add('defineMessage');
  const fields = type.field.map((field, index) => ({
    ...writeField(context, field),
    comment: comment(`${place},2,${index}`, '  '),
  }));
  const members = fields.map(({ member, ...field }) => `${field.comment}  readonly ${member};\n`);
  const rows = fields.map(({ row }) => `  ${row},\n`);
  return [
    ...type.enumType.map((each, index) =>
      writeEnum(each, `${typeName}_${each.name}`, `${place},4,${index}`, comment),
    ),
    members.length === 0
      ? `${comment(place)}export type ${typeName} = Readonly<Record<string, never>>;\n`
      : `${comment(place)}export interface ${typeName} {\n${members.join('')}}\n`,
    `export const ${typeName}: MessageType<${typeName}> = defineMessage({\n${rows.join('')}});\n`,
  ];
}

/** A member of the interface, and its row in the table. */
function writeField(context, field) {
  const { jsonName, number } = field;
  const isList = field.label === Label.REPEATED;
  // Read through the prototype, every other field has the index 0.
  const mayBeAbsent = Object.hasOwn(field, 'oneofIndex');
  const use = (helper) => {
    context.used.add(helper);
    return helper;
  };
  const known = declared.get(field.typeName);
  if (known?.isMap)
    return {
      member: `${jsonName}: Readonly<Record<string, string>>`,
      row: `${jsonName}: ${use('textMap')}(${number})`,
    };
  if (known !== undefined && known.module !== context.module)
    context.imports.set(known.module, (context.imports.get(known.module) ?? new Set()).add(known.name));
  if (field.type === Type.MESSAGE)
    return isList
      ? {
          member: `${jsonName}: readonly ${known.name}[]`,
          row: `${jsonName}: ${use('messages')}(${number}, () => ${known.name})`,
        }
      : {
          member: `${jsonName}?: ${known.name} | undefined`,
          row: `${jsonName}: ${use('message')}(${number}, () => ${known.name})`,
        };
  const scalar = field.type === Type.ENUM ? 'enumeration' : toScalar(field);
  const type = known?.name ?? types[scalar];
  const argument = field.type === Type.ENUM ? `${use('enumeration')}<${type}>()` : use(scalar);
  const kind = isList ? 'many' : mayBeAbsent ? 'optional' : 'one';
  return {
    member: `${jsonName}${mayBeAbsent ? '?' : ''}: ${isList ? 'readonly ' : ''}${type}${isList ? '[]' : ''}${mayBeAbsent ? ' | undefined' : ''}`,
    row: `${jsonName}: ${use(kind)}(${number}, ${argument})`,
  };
}

function toScalar({ type, options }) {
  const scalar = Type[type].toLowerCase();
  if (!scalar.endsWith('int64')) return scalar;
  if (options?.jstype === JsType.JS_STRING) return `${scalar}Text`;
  return scalar === 'int64' ? int64 : scalar;
}

function writeService(context, of, { name: service, method }, place, comment) {
  const nameOf = (type) => {
    const known = declared.get(type);
    if (known.module !== context.module)
      context.imports.set(known.module, (context.imports.get(known.module) ?? new Set()).add(known.name));
    return known.name;
  };
  const methods = method.map((each, index) =>
    [
      `${comment(`${place},2,${index}`, '    ')}    ${each.name[0].toLowerCase()}${each.name.slice(1)}: {`,
      `      name: '${each.name}',`,
      `      requestType: ${nameOf(each.inputType)},`,
      `      requestStream: ${each.clientStreaming},`,
      `      responseType: ${nameOf(each.outputType)},`,
      `      responseStream: ${each.serverStreaming},`,
      '    },\n',
    ].join('\n'),
  );
  return `${comment(place)}export const ${service}Definition = {\n  fullName: '${of}.${service}',\n  methods: {\n${methods.join('')}  },\n} as const;\n`;
}

function toComment(text, indent) {
  const lines = text
    .trim()
    .split('\n')
    .map((line) => line.trim());
  if (lines[0] === '') return '';
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join('')}${indent} */\n`;
}
