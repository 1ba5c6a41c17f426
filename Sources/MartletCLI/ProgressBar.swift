#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// How far something is, on the terminal; silent where standard error is none.
struct ProgressBar {
    private let total: Int
    private let isVisible = isatty(STDERR_FILENO) == 1
    private var percent = -1
    private static let width = 40

    init(total: Int) {
        self.total = total
    }

    mutating func show(_ done: Int) {
        guard isVisible, total > 0 else { return }
        let now = min(100, done * 100 / total)
        guard now != percent else { return }
        percent = now
        let full = now * Self.width / 100
        let bar = String(repeating: "#", count: full) + String(repeating: " ", count: Self.width - full)
        Output.writeError("\r[\(bar)] \(now) %")
    }

    func finish() {
        if isVisible, percent >= 0 { Output.writeError("\n") }
    }
}
