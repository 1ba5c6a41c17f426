import Foundation

/// A program that was started, and what it prints.
package final class ProgramRun: Sendable {
    package struct Result: Sendable {
        /// The exit code, or minus the number of the signal that ended it.
        package let status: Int32
        package let output: String
        package let errors: String
    }

    private let process: Process
    private let outputReader: PipeReader
    private let errorReader: PipeReader

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - words: The program, by its path or its name, and its arguments.
    ///   - environment: Variables beside those of this process.
    ///   - input: What it reads from standard input; it is no terminal.
    /// - Throws: An error of the system when it cannot be started.
    package init(_ words: [String], environment: [String: String] = [:], input: String? = nil) throws {
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = words
        var variables = ProcessInfo.processInfo.environment.filter {
            !$0.key.hasPrefix("PARSE_") && !$0.key.hasPrefix("MARTLET_") && $0.key != "PORT"
        }
        variables.merge(environment) { $1 }
        process.environment = variables
        let outputPipe = Pipe()
        let errorPipe = Pipe()
        process.standardOutput = outputPipe
        process.standardError = errorPipe
        let inputPipe = input.map { _ in Pipe() }
        process.standardInput = inputPipe ?? FileHandle.nullDevice
        try process.run()
        if let input, let inputPipe {
            inputPipe.fileHandleForWriting.write(Data(input.utf8))
            try inputPipe.fileHandleForWriting.close()
        }
        outputReader = PipeReader(outputPipe.fileHandleForReading)
        errorReader = PipeReader(errorPipe.fileHandleForReading)
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    package var processID: Int32 { process.processIdentifier }

    package var output: String { outputReader.text }

    package var errors: String { errorReader.text }

    package func signal(_ number: Int32) {
        kill(process.processIdentifier, number)
    }

    /// Waits for a line of standard output; `nil` when the program ends without it.
    package func line(startingWith prefix: String) async -> String? {
        await Blocking.run { self.outputReader.line(startingWith: prefix) }
    }

    /// Waits until the program has ended and everything it printed is read.
    package func result() async -> Result {
        await Blocking.run {
            self.process.waitUntilExit()
            self.outputReader.waitForEnd()
            self.errorReader.waitForEnd()
            let status = self.process.terminationStatus
            return Result(
                status: self.process.terminationReason == .uncaughtSignal ? -status : status,
                output: self.output,
                errors: self.errors
            )
        }
    }

    /// Runs a program to its end.
    package static func run(
        _ words: [String],
        environment: [String: String] = [:],
        input: String? = nil
    ) async throws -> Result {
        try await ProgramRun(words, environment: environment, input: input).result()
    }

    /// Runs `martlet` with these arguments to its end.
    package static func martlet(
        _ arguments: String...,
        environment: [String: String] = [:],
        input: String? = nil
    ) async throws -> Result {
        try await run([ProductPath.martlet] + arguments, environment: environment, input: input)
    }
}

/// Reads a pipe to its end on a thread of its own.
// SAFETY: `bytes` and `hasEnded` are reached under `condition` only.
private final class PipeReader: @unchecked Sendable {
    private let condition = NSCondition()
    private var bytes: [UInt8] = []
    private var hasEnded = false

    init(_ handle: FileHandle) {
        let thread = Thread {
            var chunk = [UInt8](repeating: 0, count: 65536)
            while true {
                // Not `availableData`: that ends the process when a signal interrupts it.
                let count = read(handle.fileDescriptor, &chunk, chunk.count)
                if count < 0, errno == EINTR { continue }
                self.condition.lock()
                self.bytes += chunk[..<max(0, count)]
                self.hasEnded = count <= 0
                self.condition.broadcast()
                self.condition.unlock()
                if count <= 0 { return }
            }
        }
        thread.start()
    }

    var text: String {
        condition.lock()
        defer { condition.unlock() }
        return String(decoding: bytes, as: UTF8.self)
    }

    func line(startingWith prefix: String) -> String? {
        condition.lock()
        defer { condition.unlock() }
        while true {
            let lines = String(decoding: bytes, as: UTF8.self).split(
                separator: "\n",
                omittingEmptySubsequences: false
            )
            if let line = lines.dropLast().first(where: { $0.hasPrefix(prefix) }) { return String(line) }
            if hasEnded { return nil }
            condition.wait()
        }
    }

    func waitForEnd() {
        condition.lock()
        defer { condition.unlock() }
        while !hasEnded { condition.wait() }
    }
}
