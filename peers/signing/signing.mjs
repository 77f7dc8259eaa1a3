// Verifies and signs manifests with `jose`: `signing.mjs verify MANIFEST KEYS`, `signing.mjs sign ALG MANIFEST KEYS`.
// `sign` makes a key, adds its signature to the manifest in place, and writes the public key to KEYS.
import { readFileSync, writeFileSync } from 'node:fs'
import { FlattenedSign, calculateJwkThumbprint, createLocalJWKSet, exportJWK, flattenedVerify, generateKeyPair } from 'jose'

// RFC 8785 is what JSON.stringify writes, with members in the order of their UTF-16 units, which is how sort() compares.
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  return `{${Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(',')}}`
}

const [verb, ...rest] = process.argv.slice(2)
const read = (file) => JSON.parse(readFileSync(file, 'utf8'))
const payloadOf = ({ signatures, ...document }) => new TextEncoder().encode(canonical(document))

if (verb === 'verify') {
  const manifest = read(rest[0])
  const keys = createLocalJWKSet(read(rest[1]))
  const payload = Buffer.from(payloadOf(manifest)).toString('base64url')
  for (const { protected: header, signature } of manifest.signatures) {
    const { protectedHeader } = await flattenedVerify({ protected: header, signature, payload }, keys)
    console.log(`verified ${protectedHeader.alg} ${protectedHeader.kid}`)
  }
} else {
  const [alg, file, keys] = rest
  const manifest = read(file)
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
  const jwk = await exportJWK(publicKey)
  const kid = await calculateJwkThumbprint(jwk)
  const jws = await new FlattenedSign(payloadOf(manifest)).setProtectedHeader({ alg, typ: 'JOSE', kid }).sign(privateKey)
  manifest.signatures = [{ protected: jws.protected, signature: jws.signature }]
  writeFileSync(file, JSON.stringify(manifest))
  writeFileSync(keys, JSON.stringify({ keys: [{ ...jwk, kid, alg, use: 'sig' }] }))
}
