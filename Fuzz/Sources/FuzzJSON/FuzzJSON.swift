import JSON

/// Parses the input and checks that what was accepted survives being written and read again, and that a
/// recogniser written straight from the grammar agrees on what is accepted.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzJSON(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // SAFETY: libFuzzer keeps `count` bytes at `start` valid during the call.
    let input = UnsafeRawBufferPointer(start: start, count: count)
    let limits = JSONLimits(bytes: 1 << 20, depth: 64, values: 10_000)
    do throws(JSONError) {
        let value = try JSONValue.parse(input, limits: limits)
        precondition(JSONGrammar.accepts(Array(input)), "a document that is not JSON was accepted")
        let written = value.serialized()
        guard let copy = try? JSONValue.parse(written) else {
            fatalError("what was written cannot be read")
        }
        // An infinity is written as null, so such values are compared by what they write.
        precondition(copy.serialized() == written, "writing and reading again changes the text")
        precondition(copy == value || value.holdsInfinity, "writing and reading changes the value")
        precondition(
            copy.hashValue == value.hashValue || value.holdsInfinity,
            "equal values have different hashes"
        )
    } catch {
        switch error.code {
        case .tooDeep, .tooLarge, .tooManyValues: break
        default: precondition(!JSONGrammar.accepts(Array(input)), "a document that is JSON was refused")
        }
        precondition((0...count).contains(error.offset), "an error lies outside the document")
        _ = error.description
    }
    return 0
}

extension JSONValue {
    fileprivate var holdsInfinity: Bool {
        switch self {
        case .null, .bool, .string: false
        case .number(let value): value.isInfinite
        case .array(let elements): elements.contains(where: \.holdsInfinity)
        case .object(let object): object.contains(where: \.value.holdsInfinity)
        }
    }
}
