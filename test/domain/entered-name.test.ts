import { expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { statedName, statedPersonName, typedName } from '../../src/domain/entered-name.ts'

const faultOf = (name: string) => typedName(name).fault

/** Names as people have them, in the spelling that is stored. */
const people = {
  Japanese: '山田 太郎',
  'Japanese with a variant of a character': '葛\u{e0100}城 花子',
  Chinese: '王小明',
  Korean: '김민수',
  Persian: 'علی‌رضا رضایی',
  Arabic: 'محمد عبد الله',
  Urdu: 'عائشہ بی‌بی',
  'Hebrew with points in their own order': 'יְרוּשָׁלַ\u034fִם'.normalize('NFC'),
  Hebrew: 'שָׁלוֹם כהן',
  Hindi: 'प्रिया शर्मा',
  'Hindi with a joiner': 'क्‍षितिज',
  Bengali: 'র‍্যাচেল দাস',
  Punjabi: 'ਗੁਰਪ੍ਰੀਤ ਸਿੰਘ',
  Gujarati: 'કૃષ્ણ પટેલ',
  Tamil: 'முருகன்',
  Telugu: 'శ్రీనివాస్',
  Kannada: 'ರ‍್ಯಾಚೆಲ್',
  'Malayalam with a joiner at the end': 'രാജന്‍',
  Sinhala: 'ශ්‍රීමාලි',
  Thai: 'สมชาย ใจดี',
  Khmer: 'សុខា ចាន់',
  Burmese: 'အောင်ဆန်း',
  Tibetan: 'བསྟན་འཛིན',
  Mongolian: 'ᠮᠣᠩᠭᠣᠯ',
  Vietnamese: 'Nguyễn Thị Hường',
  Turkish: 'Işıl İpek Yıldız',
  Amharic: 'አበበ ቢቂላ',
  Georgian: 'ნინო',
  Russian: 'Юрий Ёлкин',
  'one letter': 'O',
  'an apostrophe and a hyphen': "Seán O'Brien-Śmith",
}

test.each(Object.entries(people))('a name in %s is kept as it is, whoever gives it', (_, name) => {
  expect(typedName(name)).toEqual({ name, fault: null })
  expect(statedPersonName(name, 'x')).toBe(name)
  expect(statedName(name, 'x')).toBe(name)
})

test.each(Object.values(people))('both ways to write the letters of %p become one', (name) => {
  expect(typedName(name.normalize('NFD'))).toEqual({ name, fault: null })
})

test.each([
  'Ada \u{1f469}\u200d\u{1f469}\u200d\u{1f467}',
  '👩‍👩‍👧‍👦',
  '\u{1f3f3}\ufe0f\u200d\u{1f308} Grace',
  '\u{1f469}\u{1f3fd}\u200d\u{1f4bb}',
  'Ada \u2764\ufe0f',
  'Ada \u263a\ufe0e',
  'Number 1\ufe0f\u20e3',
  '\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} England',
  '\u{1f1e9}\u{1f1ea}',
  '\u{1fadb} of a newer Unicode',
])('pictures of one and of several characters are kept: %p', (name) => {
  expect(typedName(name)).toEqual({ name, fault: null })
  expect(statedPersonName(name, 'x')).toBe(name)
})

test.each([
  ['\u{1f3f3}\u200d\u{1f308}', '\u{1f3f3}\ufe0f\u200d\u{1f308}'],
  ['\u{1f575}\u200d\u2642', '\u{1f575}\ufe0f\u200d\u2642\ufe0f'],
  ['\u{1f44d}\ufe0f', '\u{1f44d}'],
])('a picture gets the selectors that Unicode recommends: %p', (typed, name) => {
  expect(typedName(typed)).toEqual({ name, fault: null })
})

const spaces = ['\u00a0', '\u1680', '\u2000', '\u2003', '\u2009', '\u202f', '\u205f', '\u3000', ' \u00a0 ']
test.each(spaces)('a space of any kind is a plain one: %p', (space) => {
  expect(typedName(`${space}山田${space}太郎${space}`)).toEqual({ name: '山田 太郎', fault: null })
})

test.each(['\u00ad', '\u061c', '\u200e', '\u200f'])('a direction mark or soft hyphen is removed: %p', (mark) => {
  expect(typedName(`${mark}Gra${mark}ce${mark}`)).toEqual({ name: 'Grace', fault: null })
  expect(statedPersonName(`שלום${mark} כהן`, 'x')).toBe('שלום כהן')
})

test.each([
  ['\u2068محمد علي\u2069', 'محمد علي'],
  ['علی\u200c', 'علی'],
  ['\u200cعلی', 'علی'],
  ['علی\u200c\u200cرضا', 'علی\u200cرضا'],
  ['علی \u200cرضا', 'علی رضا'],
  ['සුනිල්\u200d\u200d', 'සුනිල්\u200d'],
  ['ខ្មែរ\u200bសុខា', 'ខ្មែរសុខា'],
  ['สมชาย\u200bใจดี', 'สมชายใจดี'],
])('what keyboards of a script leave there without meaning is removed: %p', (typed, name) => {
  expect(typedName(typed)).toEqual({ name, fault: null })
})

test.each([
  ['Gr\u200dace', 'Grace'],
  ['Gr\u200cace', 'Grace'],
  ['Gr\u200bace', 'Grace'],
  ['Gr\u2060ace', 'Grace'],
  ['Gr\ufefface', 'Grace'],
  ['Gr\ufe0face', 'Grace'],
  ['Gr\u034face', 'Grace'],
  ['Gr\u{e0041}ace', 'Grace'],
  ['Юр\u200dий', 'Юрий'],
  ['山\u200d田', '山田'],
  ['김\u3164민수', '김 민수'],
  ['Ada\u2800Lovelace', 'Ada Lovelace'],
  ['Ada\u200d\u{1f469}', 'Ada\u{1f469}'],
  ['\u{1f469}\u200d', '\u{1f469}'],
  ['\u{1f680}\u200d\u{1f680}', '\u{1f680}\u{1f680}'],
  ['\u{1f469}\u200d\u200d\u{1f467}', '\u{1f469}\u{1f467}'],
  ['Gra\u202ece', 'Grace'],
  ['Grace\u202e', 'Grace'],
  ['Gra\u2066ce', 'Grace'],
  ['A\nB', 'A B'],
  ['A\tB', 'A B'],
  ['A\u2028B', 'A B'],
  ['A\u0007B', 'AB'],
  ['A\u{e000}B', 'AB'],
  ['A\u{378}B', 'AB'],
  ['A\ufffeB', 'AB'],
  ['A\ud800B', 'AB'],
  ['A\0B', 'AB'],
  [`Q${'\u0331'.repeat(9)}ame`, `Q${'\u0331'.repeat(8)}ame`],
])('%p is refused when typed, and cleaned when another system states it', (text, name) => {
  expect(faultOf(text)).not.toBeNull()
  expect(statedPersonName(text, 'x')).toBe(name)
})

test.each([
  '',
  ' ',
  '\u00a0\u2003',
  '\u200b',
  '\u3164\u200d',
  '\u2800',
  '\u{e0020}',
  '\ufeff\u00ad',
  '\u202e',
  '\ud800',
])('of %p nothing can be seen: it is no name, and the fallback stands for it', (text) => {
  expect(faultOf(text)).toMatch(/empty|broken/)
  expect(statedPersonName(text, 'ada')).toBe('ada')
  expect(statedName(text, 'shop')).toBe('shop')
})

test('a typed name has at most 200 characters, counted in the spelling that is stored', () => {
  expect(faultOf('x'.repeat(200))).toBeNull()
  expect(faultOf('x'.repeat(201))).toMatch(/200/)
  expect(faultOf('김'.repeat(200).normalize('NFD'))).toBeNull()
  expect(faultOf('x'.repeat(1_000_000))).toMatch(/200/)
})

test('a stated name is cut between two characters', () => {
  const family = '\u{1f469}\u200d\u{1f469}\u200d\u{1f467}'
  expect(statedPersonName('x'.repeat(5000), 'x')).toBe('x'.repeat(200))
  expect(statedPersonName(`${'x'.repeat(195)}${family}`, 'x')).toBe('x'.repeat(195))
  expect(statedPersonName(`${'x'.repeat(199)}q\u0323`, 'x')).toBe('x'.repeat(199))
})

const addresses = [
  'https://evil.example',
  'See HTTP://evil.example',
  'www.evil.example',
  'WwW.evil.example',
  'ｗｗｗ．evil.example',
  'www\u2024evil.example',
  'www。evil.example',
  '\u051d\u051d\u051d.evil.example',
  '𝐰𝐰𝐰.evil.example',
  'https\uff1a\uff0f\uff0fevil.example',
  'https:\u2044\u2044evil.example',
  'https\u2236\u2215\u2215evil.example',
  'wẇw.evil.example',
]
test.each(addresses)('the name of a person or app has no address of a web page: %p', (text) => {
  expect(faultOf(text)).toContain('address')
  const harmless = statedPersonName(text, 'x')
  expect(faultOf(harmless)).toBeNull()
  expect(harmless).toContain('evil')
  expect(statedName(text, 'x')).toContain(text.slice(-6)) // a website may be called after its address
})

test('the fallback is made harmless, too', () => expect(statedPersonName('', 'www.evil')).toBe('www evil'))

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({
    unit: fc.constantFrom(
      ...Array.from('aé\u0301\u200c\u200d\u200b \u00a0\u3000\ufe0f\ufe0e\u{1f469}\u{1f467}\u{1f3fd}\u2764\u{1f1e9}👩‍👩‍👧'),
      ...Array.from('عیक\u094dක\u0dcaខ\u180e\u180bᠮ葛\u{e0100}1\u20e3:/w.\u202e\u00ad\u2800\ud800\n\u{e000}\u115f'),
    ),
    maxLength: 40,
  }),
)

test('a stated name is one that can be typed, whatever the text, and stays as it is', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const name = statedPersonName(text, 'ada')
      expect(typedName(name)).toEqual({ name, fault: null })
      expect(statedPersonName(name, 'ada')).toBe(name)
      expect(name.length).toBeLessThanOrEqual(200)
      const site = statedName(text, 'shop')
      expect(statedName(site, 'shop')).toBe(site)
    }),
    { numRuns: 1000 },
  )
})

test('marks that change places because a character between them is dropped leave no joiner behind', () => {
  const stated = statedName('\u0301\ue000\u0dca\u200d', 'x')
  expect(stated).toBe('\u0dca\u0301')
  expect(typedName(stated)).toEqual({ name: stated, fault: null })
})

test('a typed name that is accepted stays as it is, and says no more than what was typed', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const { name, fault } = typedName(text)
      if (fault !== null) return
      expect(typedName(name)).toEqual({ name, fault: null })
      expect(statedPersonName(text, 'x')).toBe(name)
    }),
    { numRuns: 1000 },
  )
})
