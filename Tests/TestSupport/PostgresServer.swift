import Foundation

/// A PostgreSQL server with an empty cluster of its own in a temporary folder, on a free port of 127.0.0.1.
///
/// It stops with the last reference to it, and when this process ends for whatever reason.
package final class PostgresServer: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// The folder of the programs, if PostgreSQL is installed.
    package static let programs: String? = {
        let root = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        let folders = versions.sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }.map { "\(root)/\($0)/bin" }
        let candidates = folders + ["/opt/homebrew/opt/postgresql@16/bin", "/usr/local/bin", "/usr/bin"]
        return candidates.first { FileManager.default.isExecutableFile(atPath: $0 + "/initdb") }
    }()

    /// Whether tests that need a server can run here.
    package static var isInstalled: Bool { programs != nil }

    private static let sharedServer = Task { try await PostgresServer() }

    /// The one server for all tests of a process that do not stop it.
    package static func shared() async throws -> PostgresServer {
        try await sharedServer.value
    }

    package let port: Int
    private let folder: String
    private let programs: String
    private let wrapper: [String]

    /// Makes a cluster and starts the server; what is committed is on the disk, as by default.
    ///
    /// - Throws: ``Failure`` with what the programs printed.
    package init() async throws {
        guard let programs = Self.programs else { throw Failure(description: "PostgreSQL is not installed") }
        self.programs = programs
        folder = FileManager.default.temporaryDirectory.path + "/martlet-postgres-\(UUID().uuidString)"
        port = try Self.freePort()
        // The server refuses to run as root.
        let isRoot = geteuid() == 0
        wrapper = isRoot ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] : []
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        if isRoot { try await Self.check(ProgramRun.run(["chown", "postgres:postgres", folder])) }
        try await startWatchdog()
        try await run(
            "initdb",
            "--auth=trust",
            "--username=martlet",
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync"
        )
        let settings = """

            listen_addresses = '127.0.0.1'
            port = \(port)
            unix_socket_directories = ''
            max_connections = 100
            shared_buffers = '32MB'
            """
        try await Self.check(
            ProgramRun.run(wrapper + ["tee", "-a", folder + "/postgresql.conf"], input: settings + "\n")
        )
        try await start()
    }

    deinit {
        guard let id = processID else { return }
        Foundation.kill(id, SIGQUIT)
        // The watchdog does the same when this process ends; it also removes the folder.
    }

    /// Where to connect to.
    package func url(database: String = "postgres", parameters: String = "") -> String {
        "postgres://martlet@127.0.0.1:\(port)/\(database)\(parameters)"
    }

    /// Makes an empty database.
    ///
    /// - Returns: Its URL.
    package func makeDatabase() async throws -> String {
        let name = "t" + UUID().uuidString.lowercased().filter { $0 != "-" }
        try await sql("CREATE DATABASE \(name)")
        return url(database: name)
    }

    /// Runs SQL text with `psql`.
    ///
    /// - Returns: The values, separated by `|`, a row on each line.
    @discardableResult
    package func sql(_ text: String, url: String? = nil) async throws -> String {
        let words = [
            programs + "/psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", url ?? self.url(),
            "-c", text,
        ]
        return try await Self.check(ProgramRun.run(words)).trimmingCharacters(in: .newlines)
    }

    /// Starts a server that was stopped or killed, and waits until it takes connections.
    package func start() async throws {
        var result = try await control("start", "-w", "-t", "30", "-l", folder + "/log")
        for _ in 0..<50 where result.status != 0 {
            // Processes of a killed server may still be about to end.
            try await Task.sleep(for: .milliseconds(100))
            result = try await control("start", "-w", "-t", "30", "-l", folder + "/log")
        }
        try Self.check(result)
    }

    /// Stops the server in order.
    package func stop() async throws {
        try Self.check(try await control("stop", "-w", "-m", "fast"))
    }

    /// Kills all processes of the server at once, as a loss of power does.
    package func kill() async throws {
        guard let id = processID else { throw Failure(description: "the server does not run") }
        let children = try await ProgramRun.run(["pgrep", "-P", "\(id)"]).output.split(separator: "\n")
        for process in [id] + children.compactMap({ Int32($0) }) { Foundation.kill(process, SIGKILL) }
    }

    /// Stops the processes that serve an application, as if their machine had gone silent.
    package func suspend(application: String) async throws {
        try await signal(SIGSTOP, application: application)
    }

    /// Lets the processes go on.
    package func resume(application: String) async throws {
        try await signal(SIGCONT, application: application)
    }

    private func signal(_ number: Int32, application: String) async throws {
        let list = try await sql(
            "SELECT pid FROM pg_stat_activity WHERE application_name = '\(application)'"
        )
        for id in list.split(separator: "\n").compactMap({ Int32($0) }) { Foundation.kill(id, number) }
    }

    private var processID: Int32? {
        guard let text = try? String(contentsOfFile: folder + "/postmaster.pid", encoding: .utf8) else {
            return nil
        }
        return text.split(separator: "\n").first.flatMap { Int32($0) }
    }

    private func run(_ program: String, _ arguments: String...) async throws {
        try await Self.check(ProgramRun.run(wrapper + [programs + "/" + program, "-D", folder] + arguments))
    }

    private func control(_ arguments: String...) async throws -> ProgramRun.Result {
        let script = Self.closeDescriptors + "; exec \"$@\""
        let words = wrapper + [programs + "/pg_ctl", "-D", folder] + arguments
        return try await ProgramRun.run(["bash", "-c", script, "control"] + words)
    }

    /// Starts a shell that outlives this process, then stops the server and removes the folder.
    private func startWatchdog() async throws {
        let script = """
            \(Self.closeDescriptors)
            (while kill -0 "$1"; do sleep 0.3; done
            [ -f "$2/postmaster.pid" ] && kill -QUIT "$(head -n 1 "$2/postmaster.pid")"
            sleep 0.5
            rm -rf "$2") </dev/null >/dev/null 2>&1 &
            """
        let process = "\(ProcessInfo.processInfo.processIdentifier)"
        try await Self.check(ProgramRun.run(["setsid", "bash", "-c", script, "watchdog", process, folder]))
    }

    /// Foundation notices the end of a child by a socket, which what the child leaves behind must not keep open.
    ///
    /// Its number is anything when many are open.
    private static let closeDescriptors =
        "for fd in $(ls /proc/self/fd 2>/dev/null || ls /dev/fd); do [ \"$fd\" -le 2 ] || eval \"exec $fd>&-\"; done"

    @discardableResult
    private static func check(_ result: ProgramRun.Result) throws -> String {
        guard result.status == 0 else {
            throw Failure(description: "status \(result.status): \(result.output)\(result.errors)")
        }
        return result.output
    }

    private static func freePort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, length) == 0 ? getsockname(descriptor, pointer, &length) : -1
            }
        }
        guard code == 0 else { throw Failure(description: "no free port") }
        return Int(in_port_t(bigEndian: address.sin_port))
    }
}
