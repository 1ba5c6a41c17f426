import Foundation

/// The program `martlet serve` as a process of its own, on a free port of 127.0.0.1.
///
/// The data folder outlives the process, so that a test can start another on it. What the process prints is
/// kept. The process ends with the last reference to it.
package final class ServerProcess: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    package let dataFolder: String
    package let port: Int
    private let program: ProgramRun

    /// Starts a server and waits until it says that it is ready.
    ///
    /// - Parameters:
    ///   - dataFolder: Where it keeps its data.
    ///   - arguments: Flags beside `--data` and `--port`.
    ///   - environment: Variables beside those of this process.
    ///   - wrapper: Words that stand before the program, such as `["setpriv", "--reuid=65534"]`.
    /// - Throws: ``Failure`` with what the process printed, when it ends before it is ready.
    package init(
        dataFolder: String,
        arguments: [String] = [],
        environment: [String: String] = [:],
        wrapper: [String] = []
    ) async throws {
        self.dataFolder = dataFolder
        program = try ProgramRun(
            wrapper + [ProductPath.martlet, "serve", "--data", dataFolder, "--port", "0"] + arguments,
            environment: environment
        )
        let mark = "Martlet is ready at "
        guard let line = await program.line(startingWith: mark),
            let port = line.split(separator: ":").last.flatMap({ Int($0) })
        else {
            let result = await program.result()
            throw Failure(
                description:
                    "the server did not start (status \(result.status)): \(result.output)\(result.errors)"
            )
        }
        self.port = port
    }

    package var processID: Int32 { program.processID }

    /// What was printed on standard output so far.
    package var output: String { program.output }

    /// What was printed on standard error so far: the log.
    package var log: String { program.errors }

    /// Sends a signal.
    package func signal(_ number: Int32) {
        program.signal(number)
    }

    /// Waits for the end of the process.
    package func result() async -> ProgramRun.Result {
        await program.result()
    }

    /// Sends SIGTERM and waits for the end.
    @discardableResult
    package func stop() async -> ProgramRun.Result {
        signal(SIGTERM)
        return await result()
    }

    /// Sends SIGKILL and waits for the end.
    @discardableResult
    package func kill() async -> ProgramRun.Result {
        signal(SIGKILL)
        return await result()
    }
}
