package import JSON

/// Writes a structured log: one JSON object a line, with `time`, `level`, `message` and then the fields.
///
/// A logger is a value; `with` makes one whose lines carry more fields. A message below
/// the minimum level costs a comparison: neither its text nor its fields are computed.
package struct Logger: Sendable {
    /// Takes one whole line in UTF-8, which ends with a line feed; called from any thread.
    package typealias Sink = @Sendable ([UInt8]) -> Void

    /// The sink for standard error that all loggers share, so that their lines do not mix.
    package static let standardError: Sink = FileDescriptorSink(2).write

    /// Writes nothing.
    package static let disabled = Logger(minimumLevel: nil, sink: { _ in }, clock: LogTime.now)

    /// The lowest level that is written, or `nil` when nothing is.
    package let minimumLevel: LogLevel?
    private let sink: Sink
    private let clock: @Sendable () -> LogTime
    private var fields: [(String, JSONValue)] = []

    /// Writes what is at least that important to a sink.
    package init(
        minimumLevel: LogLevel,
        sink: @escaping Sink = Logger.standardError,
        clock: @escaping @Sendable () -> LogTime = LogTime.now
    ) {
        self.init(minimumLevel: Optional(minimumLevel), sink: sink, clock: clock)
    }

    private init(minimumLevel: LogLevel?, sink: @escaping Sink, clock: @escaping @Sendable () -> LogTime) {
        self.minimumLevel = minimumLevel
        self.sink = sink
        self.clock = clock
    }

    /// Whether a message of that level is written.
    package func isEnabled(_ level: LogLevel) -> Bool {
        minimumLevel.map { level >= $0 } ?? false
    }

    /// Writes a line, if its level is enabled.
    ///
    /// A field replaces an earlier one of its name. One named `time`, `level`, `message` or `truncated` gets an underscore.
    package func log(
        _ level: LogLevel,
        _ message: @autoclosure () -> String,
        _ fields: @autoclosure () -> [(String, JSONValue)] = []
    ) {
        guard isEnabled(level) else { return }
        let line = LogLine(time: clock(), level: level, message: message(), fields: self.fields + fields())
        sink(line.encoded())
    }

    /// Writes what only helps to find an error in the program.
    package func debug(
        _ message: @autoclosure () -> String,
        _ fields: @autoclosure () -> [(String, JSONValue)] = []
    ) {
        log(.debug, message(), fields())
    }

    /// Writes what an operator may want to know.
    package func info(
        _ message: @autoclosure () -> String,
        _ fields: @autoclosure () -> [(String, JSONValue)] = []
    ) {
        log(.info, message(), fields())
    }

    /// Writes what an operator should look at some time.
    package func warning(
        _ message: @autoclosure () -> String,
        _ fields: @autoclosure () -> [(String, JSONValue)] = []
    ) {
        log(.warning, message(), fields())
    }

    /// Writes what an operator should look at soon.
    package func error(
        _ message: @autoclosure () -> String,
        _ fields: @autoclosure () -> [(String, JSONValue)] = []
    ) {
        log(.error, message(), fields())
    }

    /// A logger whose lines carry these fields too, before those of the line.
    package func with(_ fields: [(String, JSONValue)]) -> Logger {
        var copy = self
        copy.fields += fields
        return copy
    }

    /// A logger whose lines carry these fields too, before those of the line.
    package func with(_ fields: (String, JSONValue)...) -> Logger {
        with(fields)
    }
}
