#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
import JSON
import Testing

@Suite struct JSONLimitsTests {
    @Test func `the size limit holds below, at and above`() {
        let limits = JSONLimits(bytes: 5)
        #expect(parseError("1234", limits: limits) == nil)
        #expect(parseError("12345", limits: limits) == nil)
        #expect(parseError("123456", limits: limits) == JSONError(code: .tooLarge, offset: 5))
        #expect(parseError("123456", limits: limits)?.description == "JSON input longer than 5 bytes")
    }

    @Test(arguments: [("[", "]"), (#"{"a":"#, "}")])
    func `the depth limit holds below, at and above`(open: String, close: String) {
        func nested(_ depth: Int) -> String {
            String(repeating: open, count: depth - 1) + (open == "[" ? "[]" : "{}")
                + String(repeating: close, count: depth - 1)
        }
        let limits = JSONLimits(depth: 3)
        #expect(parseError(nested(2), limits: limits) == nil)
        #expect(parseError(nested(3), limits: limits) == nil)
        #expect(parseError(nested(4), limits: limits)?.code == .tooDeep)
        #expect(parseError(nested(4), limits: limits)?.offset == 3 * open.utf8.count)
        #expect(parseError("1", limits: JSONLimits(depth: 0)) == nil)
        #expect(parseError("[]", limits: JSONLimits(depth: 0))?.code == .tooDeep)
    }

    @Test func `closing a container gives its depth back`() {
        #expect(parseError("[[],[],{},{},[1],[[]]]", limits: JSONLimits(depth: 3)) == nil)
        #expect(parseError(#"[{"a":1},{"a":1},{},{"b":[]}]"#, limits: JSONLimits(depth: 3)) == nil)
    }

    @Test func `the limit on values holds below, at and above and counts containers`() {
        let limits = JSONLimits(values: 4)
        #expect(parseError("[1,2]", limits: limits) == nil)
        #expect(parseError("[1,2,3]", limits: limits) == nil)
        #expect(parseError(#"{"a":[1,2]}"#, limits: limits) == nil)
        #expect(parseError("[1,2,3,4]", limits: limits) == JSONError(code: .tooManyValues, offset: 7))
        #expect(parseError(#"{"a":[1,2,{}]}"#, limits: limits)?.code == .tooManyValues)
    }

    @Test(arguments: ["[", #"{"a":"#])
    func `ten million opening brackets are refused`(open: String) {
        let bytes = Array(String(repeating: open, count: 10_000_000).utf8)
        #expect(parseError(bytes)?.code == .tooDeep || parseError(bytes)?.code == .tooLarge)
        #expect(parseError(bytes, limits: JSONLimits(bytes: .max))?.code == .tooDeep)
    }

    @Test(arguments: ["[", #"{"a":"#])
    func `a value at the depth limit is handled on a stack of 512 KiB`(open: String) throws {
        let depth = JSONLimits.standard.depth
        let close = open == "[" ? "]" : "}"
        let text =
            String(repeating: open, count: depth - 1) + (open == "[" ? "[]" : "{}")
            + String(repeating: close, count: depth - 1)
        let succeeded = try onThread(stackBytes: 512 << 10) {
            guard let value = try? JSONValue.parse(text), let copy = try? JSONValue.parse(text) else {
                return false
            }
            return value == copy && value.hashValue == copy.hashValue && value.serializedString() == text
        }
        #expect(succeeded)
    }
}

private final class ThreadBody {
    let run: () -> Bool
    var result = false

    init(_ run: @escaping () -> Bool) {
        self.run = run
    }
}

/// Runs a function on a thread with a stack of that size and waits for it.
private func onThread(stackBytes: Int, _ run: @escaping () -> Bool) throws -> Bool {
    var attributes = pthread_attr_t()
    try #require(pthread_attr_init(&attributes) == 0)
    defer { pthread_attr_destroy(&attributes) }
    try #require(pthread_attr_setstacksize(&attributes, stackBytes) == 0)
    let body = ThreadBody(run)
    // SAFETY: `body` lives until the thread has been joined, and only then is its result read.
    let context = Unmanaged.passUnretained(body).toOpaque()
    #if canImport(Glibc)
        var thread = pthread_t()
        let created = pthread_create(&thread, &attributes, { startThread($0) }, context)
        try #require(created == 0)
    #else
        var handle: pthread_t?
        try #require(pthread_create(&handle, &attributes, { startThread($0) }, context) == 0)
        let thread = try #require(handle)
    #endif
    return withExtendedLifetime(body) {
        pthread_join(thread, nil)
        return body.result
    }
}

private func startThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    let body = Unmanaged<ThreadBody>.fromOpaque(context).takeUnretainedValue()
    body.result = body.run()
    return nil
}
