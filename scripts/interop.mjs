// What scripts/interop asks of OpenPGP.js: one operation on standard input, the result on standard output.
import { readFileSync } from 'node:fs';
import * as openpgp from 'openpgp';

const [operation, first, second] = process.argv.slice(2);
const input = () => readFileSync(0);
const file = name => readFileSync(name);
const armored = bytes => bytes.subarray(0, 5).toString() === '-----';
const readKey = async bytes =>
    openpgp.readKey(armored(bytes) ? { armoredKey: bytes.toString() } : { binaryKey: bytes });
const readPrivateKey = async bytes =>
    openpgp.readPrivateKey(armored(bytes) ? { armoredKey: bytes.toString() } : { binaryKey: bytes });
const readMessage = async bytes =>
    openpgp.readMessage(armored(bytes) ? { armoredMessage: bytes.toString() } : { binaryMessage: bytes });
const readSignature = async bytes =>
    openpgp.readSignature(armored(bytes) ? { armoredSignature: bytes.toString() } : { binarySignature: bytes });

const holds = async signatures => {
    if (signatures.length === 0) throw new Error('no signature');
    for (const signature of signatures) await signature.verified;
};

const KINDS = {
    curve25519Legacy: { type: 'ecc', curve: 'curve25519Legacy' },
    rsa: { type: 'rsa', rsaBits: 3072 },
    nistP256: { type: 'ecc', curve: 'nistP256' },
    curve25519: { type: 'curve25519', config: { v6Keys: true, aeadProtect: true } },
    curve448: { type: 'curve448', config: { v6Keys: true, aeadProtect: true } },
};

const operations = {
    version: async () =>
        JSON.parse(readFileSync(new URL('node_modules/openpgp/package.json', import.meta.url))).version,
    generate: async () => {
        const userIDs = [{ name: 'Ann', email: 'ann@example.org' }];
        return (await openpgp.generateKey({ ...KINDS[first], userIDs, format: 'armored' })).privateKey;
    },
    certificate: async () => (await readPrivateKey(input())).toPublic().armor(),
    sign: async () => {
        const message = await openpgp.createMessage({ binary: input() });
        return openpgp.sign({ message, signingKeys: await readPrivateKey(file(first)), detached: true });
    },
    'sign-inline': async () => {
        const message = await openpgp.createMessage({ binary: input() });
        return openpgp.sign({ message, signingKeys: await readPrivateKey(file(first)) });
    },
    verify: async () => {
        const message = await openpgp.createMessage({ binary: input() });
        const signature = await readSignature(file(second));
        const verificationKeys = await readKey(file(first));
        await holds((await openpgp.verify({ message, signature, verificationKeys })).signatures);
        return '';
    },
    'verify-inline': async () => {
        const verificationKeys = await readKey(file(first));
        const message = await readMessage(input());
        const { data, signatures } = await openpgp.verify({ message, verificationKeys, format: 'binary' });
        await holds(signatures);
        return data;
    },
    encrypt: async () => {
        const message = await openpgp.createMessage({ binary: input() });
        const config = second === 'rfc9580' ? { aeadProtect: true } : { aeadProtect: false };
        return openpgp.encrypt({ message, encryptionKeys: await readKey(file(first)), config });
    },
    decrypt: async () => {
        const decryptionKeys = await readPrivateKey(file(first));
        return (await openpgp.decrypt({ message: await readMessage(input()), decryptionKeys, format: 'binary' })).data;
    },
};

process.stdout.write(await operations[operation]());
