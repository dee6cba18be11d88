// Reader of the zip form of a recording: trace.json and one NAME.npy an
// array. Only what a recording uses of zip (APPNOTE.TXT 6.3): stored and
// deflated members, no encryption, no split archives, no zip64.
import { Recording } from './recording';
import { RecordingError } from './schema';
import { provide } from './fetcharray';

interface Member { at: number; size: number; method: number }

const damaged = (what: string): RecordingError => new RecordingError('shape', `The .gbx file: ${what}.`, 'Write it again with glassbox export, or open the NAME.part beside it.');

function members(b: ArrayBuffer): Map<string, Member> {
  const v = new DataView(b), out = new Map<string, Member>();
  let end = b.byteLength - 22;
  const least = Math.max(0, end - 65_535);
  while (end >= least && v.getUint32(end, true) !== 0x06054b50) end--;
  if (end < least) throw damaged('its end is missing');
  let at = v.getUint32(end + 16, true);
  for (let n = v.getUint16(end + 10, true); n > 0; n--) {
    if (at + 46 > b.byteLength || v.getUint32(at, true) !== 0x02014b50) throw damaged(`offset ${at}: its directory is cut off`);
    const name = v.getUint16(at + 28, true), extra = v.getUint16(at + 30, true), comment = v.getUint16(at + 32, true), head = v.getUint32(at + 42, true);
    const key = new TextDecoder().decode(new Uint8Array(b, at + 46, name));
    if (head + 30 > b.byteLength) throw damaged(`${key}: offset ${head} lies behind the end`);
    out.set(key, { at: head + 30 + v.getUint16(head + 26, true) + v.getUint16(head + 28, true), size: v.getUint32(at + 20, true), method: v.getUint16(at + 10, true) });
    at += 46 + name + extra + comment;
  }
  return out;
}

async function unpack(b: ArrayBuffer, m: Member, name: string): Promise<ArrayBuffer> {
  if (m.at + m.size > b.byteLength) throw damaged(`${name} is cut off`);
  if (m.method === 0) return b.slice(m.at, m.at + m.size);
  if (m.method !== 8) throw damaged(`${name}: packing method ${m.method} is not known here`);
  const s = new Blob([new Uint8Array(b, m.at, m.size)]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Response(s).arrayBuffer();
}

/** openGbx reads a .gbx; its arrays stay packed until a view asks for one. */
export async function openGbx(b: ArrayBuffer): Promise<Recording> {
  const list = members(b), text = list.get('trace.json');
  if (!text) throw damaged('it has no trace.json');
  const r = Recording.parse(new TextDecoder().decode(await unpack(b, text, 'trace.json')));
  provide(r, (name) => {
    const m = list.get(`${name}.npy`);
    return m ? unpack(b, m, `${name}.npy`) : Promise.reject(damaged(`it has no ${name}.npy`));
  });
  return r;
}
