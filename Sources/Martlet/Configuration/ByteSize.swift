/// A number of bytes as people write it: `20mb`, `512kb`, `1048576`.
package enum ByteSize {
    private static let units: [(suffix: String, bytes: Double)] = [
        ("kb", 1024), ("mb", 1_048_576), ("gb", 1_073_741_824), ("b", 1),
    ]

    /// The number of bytes; `nil` for what is no size, is negative, or is over 1 GiB.
    package static func parse(_ text: String) -> Int? {
        let text = text.lowercased().filter { $0 != " " }
        let unit = units.first { text.hasSuffix($0.suffix) }
        let digits = unit.map { String(text.dropLast($0.suffix.count)) } ?? text
        guard let number = Double(digits), number.isFinite else { return nil }
        let bytes = number * (unit?.bytes ?? 1)
        return (0...1_073_741_824).contains(bytes) ? Int(bytes) : nil
    }
}
