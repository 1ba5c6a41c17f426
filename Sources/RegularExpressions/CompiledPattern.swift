import CPCRE2

/// What PCRE2 made of a pattern; freed with the last reference.
// SAFETY: PCRE2's compiled code is not changed after it was made, and its functions read it from any thread; what
// a match writes to is in a workspace of its own.
final class CompiledPattern: @unchecked Sendable {
    private let code: OpaquePointer
    /// Whether callouts count the work of a match.
    private let isCounted: Bool
    private let hasBackReferences: Bool
    /// Bytes that the code takes.
    let cost: Int

    /// A search may take so many units of work; some 20 ms of a fast machine.
    private static let workLimit: Int64 = 2_000_000
    /// Code larger than that is run as it is: to translate it into machine code would take too long.
    private static let translatedByteLimit = 32_768

    init(_ pattern: String, _ options: RegularExpression.Options) throws(RegularExpressionError) {
        isCounted = !PatternShape.isPlain(pattern, options)
        var flags = PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C | PCRE2_NO_UTF_CHECK
        if isCounted { flags |= PCRE2_AUTO_CALLOUT }
        if options.contains(.ignoresCase) { flags |= PCRE2_CASELESS }
        if options.contains(.multiline) { flags |= PCRE2_MULTILINE }
        if options.contains(.extended) { flags |= PCRE2_EXTENDED }
        if options.contains(.dotMatchesLineEnds) { flags |= PCRE2_DOTALL }
        code = try Self.compile(pattern, flags)
        let size = Self.information(code, PCRE2_INFO_SIZE, as: Int.self)
        if size <= Self.translatedByteLimit { _ = pcre2_jit_compile_8(code, PCRE2_JIT_COMPLETE) }
        hasBackReferences = Self.information(code, PCRE2_INFO_BACKREFMAX, as: UInt32.self) > 0
        cost = size + Self.information(code, PCRE2_INFO_JITSIZE, as: Int.self)
    }

    deinit {
        pcre2_code_free_8(code)
    }

    func matches(_ subject: UnsafeRawBufferPointer, isUTF8: Bool) throws(RegularExpressionError) -> Bool {
        let workspace = MatchWorkspace.take()
        defer { workspace.giveBack() }
        workspace.allow(Self.workLimit, surcharge: hasBackReferences ? Int64(subject.count / 64) : 0)
        let bytes = subject.assumingMemoryBound(to: UInt8.self)
        // SAFETY: PCRE2 reads the bytes only during the call; without any it gets a place it does not read.
        let code = withUnsafePointer(to: 0 as UInt8) { nothing in
            workspace.match(
                self.code,
                bytes.baseAddress ?? nothing,
                bytes.count,
                isUTF8 ? PCRE2_NO_UTF_CHECK : 0
            )
        }
        if code >= 0 { return true }
        if code == PCRE2_ERROR_NOMATCH { return false }
        // Between these two lie the codes for bytes that are no UTF-8.
        if (PCRE2_ERROR_UTF8_ERR21...PCRE2_ERROR_UTF8_ERR1).contains(code) { return false }
        throw .tooComplex
    }

    private static func compile(
        _ pattern: String,
        _ flags: UInt32
    ) throws(RegularExpressionError) -> OpaquePointer {
        var failure: Int32 = 0
        var offset = 0
        var pattern = pattern
        let context = pcre2_compile_context_create_8(nil)
        defer { pcre2_compile_context_free_8(context) }
        pcre2_set_parens_nest_limit_8(context, 100)
        pcre2_set_newline_8(context, UInt32(PCRE2_NEWLINE_LF))
        let code = pattern.withUTF8 { bytes in
            // SAFETY: PCRE2 copies what it needs of the pattern before it returns.
            withUnsafePointer(to: 0 as UInt8) { nothing in
                pcre2_compile_8(bytes.baseAddress ?? nothing, bytes.count, flags, &failure, &offset, context)
            }
        }
        if let code { return code }
        if tooMuch.contains(failure) { throw .tooComplex }
        throw .invalid(reason: text(of: failure), offset: offset)
    }

    private static let tooMuch: Set<Int32> = [
        PCRE2_ERROR_PARENTHESES_NEST_TOO_DEEP, PCRE2_ERROR_PARENTHESES_STACK_CHECK,
        PCRE2_ERROR_PATTERN_TOO_LARGE, PCRE2_ERROR_PATTERN_TOO_COMPLICATED,
        PCRE2_ERROR_LOOKBEHIND_TOO_COMPLICATED, PCRE2_ERROR_HEAP_FAILED,
    ]

    private static func text(of failure: Int32) -> String {
        let bytes = [UInt8](unsafeUninitializedCapacity: 256) { buffer, count in
            count = max(0, Int(pcre2_get_error_message_8(failure, buffer.baseAddress, buffer.count)))
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func information<Value: FixedWidthInteger>(
        _ code: OpaquePointer,
        _ what: Int32,
        as type: Value.Type
    ) -> Value {
        var value: Value = 0
        return pcre2_pattern_info_8(code, UInt32(what), &value) == 0 ? value : 0
    }
}
