import CPCRE2
import CPCRE2Shims
import Locking

/// What one match writes to, kept for the next one.
// SAFETY: the one who took it has it for itself until it is given back.
final class MatchWorkspace: @unchecked Sendable {
    private let data: OpaquePointer
    private let context: OpaquePointer
    private let stack: OpaquePointer?
    private let work: UnsafeMutablePointer<cpcre2_work>

    /// So many are kept; more than that at once are made and freed.
    private static let keptLimit = 16
    private static let kept = Locked<[MatchWorkspace]>([])

    static func take() -> MatchWorkspace {
        kept.withLock { $0.popLast() } ?? MatchWorkspace()
    }

    func giveBack() {
        Self.kept.withLock { kept in
            if kept.count < Self.keptLimit { kept.append(self) }
        }
    }

    private init() {
        // One pair of offsets is all that is asked for: whether there is a match.
        guard let data = pcre2_match_data_create_8(1, nil), let context = pcre2_match_context_create_8(nil)
        else { fatalError("no memory for a match") }
        self.data = data
        self.context = context
        stack = pcre2_jit_stack_create_8(32 << 10, 512 << 10, nil)
        pcre2_jit_stack_assign_8(context, nil, UnsafeMutableRawPointer(stack))
        work = .allocate(capacity: 1)
        work.initialize(to: cpcre2_work(left: 0, position: 0, surcharge: 0))
        cpcre2_limit_work(UnsafeMutableRawPointer(context), work)
        // Second lines of defence behind the count of work: machine code heeds the first alone.
        pcre2_set_match_limit_8(context, 1_000_000)
        pcre2_set_depth_limit_8(context, 20_000)
        pcre2_set_heap_limit_8(context, 8 << 10)
    }

    deinit {
        pcre2_match_data_free_8(data)
        pcre2_match_context_free_8(context)
        pcre2_jit_stack_free_8(stack)
        work.deallocate()
    }

    func allow(_ units: Int64, surcharge: Int64) {
        work.pointee = cpcre2_work(left: units, position: 0, surcharge: surcharge)
    }

    /// PCRE2's code: 0 or more for a match, `PCRE2_ERROR_NOMATCH` for none, below that an error.
    func match(_ code: OpaquePointer, _ subject: UnsafePointer<UInt8>, _ count: Int, _ flags: UInt32) -> Int32
    {
        let result = pcre2_match_8(code, subject, count, 0, flags, data, context)
        guard result == PCRE2_ERROR_JIT_STACKLIMIT else { return result }
        // The interpreter keeps its places on the heap, within a limit of its own.
        return pcre2_match_8(code, subject, count, 0, flags | PCRE2_NO_JIT, data, context)
    }
}
