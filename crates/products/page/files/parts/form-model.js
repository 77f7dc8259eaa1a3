// What a form shows for a JSON Schema, and what it does to the value. Pure. The value itself is the state: a member that is
// missing is absent, `null` is null, everything else is a value. So the form and its JSON never disagree.

import { ExactNumber, pointer } from "../json.js";

const DEEPEST = 12;
const MOST_FIELDS = 500;

/**
 * @typedef {"string" | "number" | "integer" | "boolean" | "enum" | "object" | "array" | "null" | "json"} Kind
 * @typedef {object} Field
 * @property {Kind} kind
 * @property {string} title
 * @property {string} description
 * @property {boolean} nullable whether `null` is valid
 * @property {any[]} options of an enum, without null
 * @property {string[]} labels of the options
 * @property {{ name: string, required: boolean, field: Field }[]} members of an object
 * @property {Field | null} items of an array
 * @property {string} format
 * @property {string} why a form cannot show it and offers JSON
 * @property {any} schema
 */

/**
 * @param {any} schema
 * @returns {Field}
 */
export function describe(schema) {
  return new Reader(schema).field(schema, "", 0);
}

class Reader {
  /** @param {any} root */
  constructor(root) {
    this.root = root;
    this.fields = 0;
  }

  /**
   * @param {any} given
   * @param {string} name
   * @param {number} depth
   * @returns {Field}
   */
  field(given, name, depth) {
    const { schema, nullable, why } = this.plain(given, 0);
    const field = start(schema, name, nullable);
    this.fields += 1;
    if (why) return asJson(field, why);
    if (depth > DEEPEST || this.fields > MOST_FIELDS) return asJson(field, "nested too deeply for a form");
    const options = optionsOf(schema);
    if (options) return withOptions(field, options);
    const types = typesOf(schema);
    if (types.includes("null")) field.nullable = true;
    const others = types.filter((type) => type !== "null");
    if (types.length > 0 && others.length === 0) return { ...field, kind: "null", nullable: true };
    if (others.length !== 1) return asJson(field, others.length > 1 ? `one of ${others.join(", ")}` : "any JSON");
    return this.typed(field, others[0], depth);
  }

  /**
   * @param {Field} field
   * @param {string} type
   * @param {number} depth
   * @returns {Field}
   */
  typed(field, type, depth) {
    const { schema } = field;
    if (type === "object") return this.object(field, depth);
    if (type === "array") {
      if (!isObject(schema.items)) return asJson(field, "an array of any JSON");
      return { ...field, kind: "array", items: this.field(schema.items, "", depth + 1) };
    }
    const known = ["string", "number", "integer", "boolean"].includes(type);
    return known ? { ...field, kind: /** @type {Kind} */ (type) } : asJson(field, `the type ${JSON.stringify(type)} is unknown`);
  }

  /**
   * @param {Field} field
   * @param {number} depth
   * @returns {Field}
   */
  object(field, depth) {
    const { schema } = field;
    const properties = isObject(schema.properties) ? schema.properties : {};
    const names = Object.keys(properties);
    if (depth > 0 && names.length === 0) return asJson(field, "an object of any members");
    const required = Array.isArray(schema.required) ? schema.required : [];
    const members = names.map((name) => ({
      name,
      required: required.includes(name),
      field: this.field(properties[name], name, depth + 1),
    }));
    return { ...field, kind: "object", members };
  }

  /**
   * A schema without references and without the ways to say nullable.
   * @param {any} given
   * @param {number} followed
   * @returns {{ schema: any, nullable: boolean, why: string }}
   */
  plain(given, followed) {
    if (!isObject(given)) return { schema: {}, nullable: false, why: given === false ? "nothing is valid here" : "any JSON" };
    if (typeof given.$ref === "string") {
      const target = followed < DEEPEST ? this.resolve(given.$ref) : undefined;
      if (target === undefined) return { schema: given, nullable: false, why: `the reference ${given.$ref} leads nowhere` };
      const { $ref: _ref, ...rest } = given;
      return this.plain(isObject(target) ? { ...target, ...rest } : target, followed + 1);
    }
    if (Array.isArray(given.allOf)) {
      if (given.allOf.length !== 1) return { schema: given, nullable: false, why: "several schemas at once (allOf)" };
      const { allOf, ...rest } = given;
      return this.plain({ ...allOf[0], ...rest }, followed + 1);
    }
    return this.choice(given, followed);
  }

  /**
   * @param {any} given
   * @param {number} followed
   * @returns {{ schema: any, nullable: boolean, why: string }}
   */
  choice(given, followed) {
    const name = Array.isArray(given.oneOf) ? "oneOf" : Array.isArray(given.anyOf) ? "anyOf" : null;
    if (name === null || optionsOf(given)) return { schema: given, nullable: given.nullable === true, why: "" };
    const { [name]: branches, ...rest } = given;
    const others = branches.filter((/** @type {any} */ branch) => !(isObject(branch) && branch.type === "null"));
    if (others.length === 1 && followed < DEEPEST) {
      const inner = this.plain({ ...others[0], ...rest }, followed + 1);
      return { ...inner, nullable: inner.nullable || others.length < branches.length };
    }
    return { schema: given, nullable: others.length < branches.length, why: `one of ${others.length} schemas (${name})` };
  }

  /** @param {string} reference */
  resolve(reference) {
    if (reference === "#") return this.root;
    if (!reference.startsWith("#/")) return undefined;
    let at = this.root;
    for (const part of reference.slice(2).split("/")) {
      const key = decode(part).replaceAll("~1", "/").replaceAll("~0", "~");
      if (at === null || typeof at !== "object" || !Object.hasOwn(at, key)) return undefined;
      at = at[key];
    }
    return at;
  }
}

/** @param {string} part */
function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** @param {any} value @returns {value is Record<string, any>} */
export const isObject = (value) =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);

/** @param {any} value */
const words = (value) => (typeof value === "string" ? value : "");

/**
 * @param {any} schema
 * @param {string} name
 * @param {boolean} nullable
 * @returns {Field}
 */
function start(schema, name, nullable) {
  const { title, description, format } = schema;
  return {
    kind: "json",
    title: words(title) || name,
    description: words(description),
    nullable,
    options: [],
    labels: [],
    members: [],
    items: null,
    format: words(format),
    why: "",
    schema,
  };
}

/** @param {Field} field @param {string} why @returns {Field} */
const asJson = (field, why) => ({ ...field, kind: "json", why });

/** @param {any} schema @returns {string[]} */
function typesOf(schema) {
  const { type } = schema;
  if (typeof type === "string") return [type];
  if (Array.isArray(type)) return type.filter((one) => typeof one === "string");
  if (isObject(schema.properties)) return ["object"];
  return [];
}

/**
 * The values of an enum, of a `const`, or of alternatives that are all constants.
 * @param {any} schema
 * @returns {{ value: any, label: string }[] | null}
 */
function optionsOf(schema) {
  const plain = (/** @type {any[]} */ values) => values.map((value) => ({ value, label: labelOf(value) }));
  if (Array.isArray(schema.enum) && schema.enum.length > 0) {
    const names = Array.isArray(schema.enumNames) ? schema.enumNames : [];
    return plain(schema.enum).map((option, at) => ({ ...option, label: words(names[at]) || option.label }));
  }
  if (Object.hasOwn(schema, "const")) return plain([schema.const]);
  for (const branches of [schema.oneOf, schema.anyOf]) {
    const constant = (/** @type {any} */ branch) => isObject(branch) && Object.hasOwn(branch, "const");
    if (Array.isArray(branches) && branches.length > 0 && branches.every(constant)) {
      return branches.map((branch) => ({ value: branch.const, label: words(branch.title) || labelOf(branch.const) }));
    }
  }
  return null;
}

/** @param {any} value */
const labelOf = (value) => (typeof value === "string" ? value : JSON.stringify(value) ?? "");

/**
 * @param {Field} field
 * @param {{ value: any, label: string }[]} options
 * @returns {Field}
 */
function withOptions(field, options) {
  const kept = options.filter(({ value }) => value !== null);
  const nullable = field.nullable || kept.length < options.length;
  return { ...field, kind: "enum", nullable, options: kept.map(({ value }) => value), labels: kept.map(({ label }) => label) };
}

/**
 * What a field holds when it is turned from absent to a value.
 * @param {Field} field
 * @returns {any}
 */
export function first(field) {
  const { schema } = field;
  if (isObject(schema) && Object.hasOwn(schema, "default") && schema.default !== null) return structuredClone(schema.default);
  switch (field.kind) {
    case "enum":
      return field.options[0] ?? null;
    case "string":
      return "";
    case "number":
    case "integer":
      return typeof schema.minimum === "number" && schema.minimum > 0 ? schema.minimum : 0;
    case "boolean":
      return false;
    case "array":
      return [];
    case "object":
      return withRequired(field);
    case "json":
      return {};
    default:
      return null;
  }
}

/**
 * @param {Field} field
 * @returns {Record<string, any>}
 */
function withRequired(field) {
  const required = field.members.filter((member) => member.required && member.field.kind !== "json");
  return Object.fromEntries(required.map((member) => [member.name, first(member.field)]));
}

/**
 * @typedef {"absent" | "null" | "value"} State
 * @param {any} value
 * @returns {State}
 */
export const stateOf = (value) => (value === undefined ? "absent" : value === null ? "null" : "value");

/**
 * @typedef {(string | number)[]} Path
 * @param {any} value
 * @param {Path} path
 * @returns {any}
 */
export function at(value, path) {
  let here = value;
  for (const key of path) {
    if (here === null || typeof here !== "object" || !Object.hasOwn(here, key)) return undefined;
    here = /** @type {any} */ (here)[key];
  }
  return here;
}

/**
 * The value with another one at a path; `undefined` removes it. Nothing is changed in place.
 * @param {any} value
 * @param {Path} path
 * @param {any} next
 * @returns {any}
 */
export function put(value, path, next) {
  if (path.length === 0) return next;
  const [key, ...rest] = path;
  if (typeof key === "number") {
    const list = Array.isArray(value) ? value : [];
    const item = put(list[key], rest, next);
    return item === undefined ? list.filter((_, index) => index !== key) : Object.assign([...list], { [key]: item });
  }
  const members = isObject(value) ? value : {};
  const member = put(Object.hasOwn(members, key) ? members[key] : undefined, rest, next);
  // By entries: an assignment to `__proto__` would not make a member.
  const entries = Object.entries(members);
  const found = entries.findIndex(([name]) => name === key);
  if (member === undefined) return Object.fromEntries(entries.filter((_, index) => index !== found));
  if (found < 0) return Object.fromEntries([...entries, [key, member]]);
  return Object.fromEntries(entries.map((entry, index) => (index === found ? [key, member] : entry)));
}

/**
 * What the form can tell is wrong before the server sees it.
 * @param {Field} field
 * @param {any} value
 * @param {Path} [path]
 * @returns {{ path: string, message: string }[]}
 */
export function problems(field, value, path = []) {
  if (value === undefined) return [];
  const one = (/** @type {string} */ message) => [{ path: pointer(path), message }];
  if (value === null) return field.nullable || field.kind === "json" ? [] : one("null is not valid here");
  switch (field.kind) {
    case "string":
      return typeof value === "string" ? textProblems(field.schema, value).flatMap(one) : one("must be a string");
    case "number":
    case "integer":
      return numberProblems(field, value).flatMap(one);
    case "boolean":
      return typeof value === "boolean" ? [] : one("must be true or false");
    case "enum":
      return field.options.some((option) => JSON.stringify(option) === JSON.stringify(value)) ? [] : one("is not one of the options");
    case "null":
      return one("must be null");
    case "array":
      return arrayProblems(field, value, path);
    case "object":
      return objectProblems(field, value, path);
    default:
      return [];
  }
}

/** @param {any} schema @param {string} value @returns {string[]} */
function textProblems(schema, value) {
  const length = [...value].length;
  if (typeof schema.minLength === "number" && length < schema.minLength) return [`needs at least ${schema.minLength} characters`];
  if (typeof schema.maxLength === "number" && length > schema.maxLength) return [`has ${length} of at most ${schema.maxLength} characters`];
  return [];
}

/** @param {Field} field @param {any} value @returns {string[]} */
function numberProblems(field, value) {
  if (value instanceof ExactNumber) return [];
  if (typeof value !== "number") return ["must be a number"];
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = field.schema;
  if (field.kind === "integer" && !Number.isInteger(value)) return ["must be a whole number"];
  if (typeof minimum === "number" && value < minimum) return [`must be at least ${minimum}`];
  if (typeof maximum === "number" && value > maximum) return [`must be at most ${maximum}`];
  if (typeof exclusiveMinimum === "number" && value <= exclusiveMinimum) return [`must be more than ${exclusiveMinimum}`];
  if (typeof exclusiveMaximum === "number" && value >= exclusiveMaximum) return [`must be less than ${exclusiveMaximum}`];
  return [];
}

/** @param {Field} field @param {any} value @param {Path} path */
function arrayProblems(field, value, path) {
  if (!Array.isArray(value)) return [{ path: pointer(path), message: "must be an array" }];
  const { minItems, maxItems } = field.schema;
  const inside = value.flatMap((item, index) => problems(/** @type {Field} */ (field.items), item, [...path, index]));
  if (typeof minItems === "number" && value.length < minItems) inside.unshift({ path: pointer(path), message: `needs at least ${minItems} items` });
  if (typeof maxItems === "number" && value.length > maxItems) inside.unshift({ path: pointer(path), message: `has more than ${maxItems} items` });
  return inside;
}

/** @param {Field} field @param {any} value @param {Path} path */
function objectProblems(field, value, path) {
  if (!isObject(value)) return [{ path: pointer(path), message: "must be an object" }];
  const missing = field.members.filter(({ name, required }) => required && !Object.hasOwn(value, name));
  const absent = missing.map(({ name }) => ({ path: pointer([...path, name]), message: "is required" }));
  const inside = field.members.flatMap(({ name, field: member }) => problems(member, at(value, [name]), [...path, name]));
  return [...absent, ...inside];
}

/**
 * What a typed number means: a number, an exact one, or the text itself if it is not a number.
 * @param {string} typed
 * @returns {any}
 */
export function numberFrom(typed) {
  const trimmed = typed.trim();
  if (!/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(trimmed)) return typed;
  const value = Number(trimmed);
  const exact = Number.isFinite(value) && (Number.isSafeInteger(value) || !Number.isInteger(value));
  return exact ? value : new ExactNumber(trimmed);
}
