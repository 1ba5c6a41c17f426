/// The words of a command line, sorted into flags and the rest.
struct Arguments {
    /// The words that are neither flags nor their values.
    private(set) var words: [String] = []
    private var values: [String: String] = [:]
    private var switches: Set<String> = []

    /// Sorts the words.
    ///
    /// - Parameters:
    ///   - words: What follows the command's name.
    ///   - flags: Flags that take a value, as `--data DIR` or `--data=DIR`.
    ///   - switches: Flags that take none.
    ///   - wordLimit: How many other words the command takes.
    /// - Throws: ``UsageError`` that names the first word that does not belong.
    init(_ words: [String], flags: [String], switches: [String] = [], wordLimit: Int = 0) throws(UsageError) {
        var rest = words[...]
        var isAfterMark = false
        while let word = rest.popFirst() {
            if isAfterMark || !word.hasPrefix("-") || word == "-" {
                guard self.words.count < wordLimit else {
                    throw UsageError("Unexpected argument \"\(word)\".")
                }
                self.words.append(word)
                continue
            }
            if word == "--" {
                isAfterMark = true
                continue
            }
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
                String.init
            )
            let name = parts[0]
            if switches.contains(name) {
                guard parts.count == 1 else { throw UsageError("The flag \(name) takes no value.") }
                self.switches.insert(name)
                continue
            }
            guard flags.contains(name) else { throw UsageError("Unknown flag \"\(name)\".") }
            guard values[name] == nil else { throw UsageError("The flag \(name) is given twice.") }
            guard let value = parts.count == 2 ? parts[1] : rest.popFirst() else {
                throw UsageError("The flag \(name) needs a value.")
            }
            values[name] = value
        }
    }

    subscript(flag: String) -> String? {
        values[flag]
    }

    func has(_ name: String) -> Bool {
        switches.contains(name)
    }
}
