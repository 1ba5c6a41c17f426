import JSON
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Disks that are full, folders that cannot be used, and others who use them.
@Suite(.serialized)
struct DataFolderTests {
    @Test func `a second server on the folder is refused`() async throws {
        let server = try await TestServer.start()
        let result = try await ProgramRun.martlet("serve", "--data", server.process.dataFolder, "--port", "0")
        #expect(result.status == 2)
        #expect(
            result.errors
                == "martlet: The data folder \(server.process.dataFolder) is in use by another martlet (process \(server.process.processID)).\n"
        )
        #expect(try await server.api.call("GET", "/health").status == 200)
        await server.process.kill()
        let next = try await server.startAgain()
        await next.process.stop()
    }

    @Test func `a folder that holds something else is left alone`() async throws {
        let folder = try TemporaryFolder()
        try write(Array("precious".utf8), to: folder.path + "/thesis.txt")
        let result = try await ProgramRun.martlet("serve", "--data", folder.path, "--port", "0")
        #expect(result.status == 2)
        #expect(
            result.errors
                == "martlet: The folder \(folder.path) is no data folder of martlet: it holds thesis.txt and no martlet.db.\n"
        )
        let files = try await ProgramRun.run(["ls", "-A", folder.path])
        #expect(files.output == "thesis.txt\n")
    }

    @Test func `a file in the folder's place is told`() async throws {
        let folder = try TemporaryFolder()
        try write([], to: folder.path + "/data")
        let result = try await ProgramRun.martlet("serve", "--data", folder.path + "/data", "--port", "0")
        #expect(result.status == 2)
        #expect(result.errors.hasPrefix("martlet: The data folder \(folder.path)/data cannot be read: "))
    }

    @Test func `a control database that is something else is told`() async throws {
        let folder = try TemporaryFolder()
        try write(Array(String(repeating: "no database ", count: 100).utf8), to: folder.path + "/martlet.db")
        let result = try await ProgramRun.martlet("serve", "--data", folder.path, "--port", "0")
        #expect(result.status == 2)
        #expect(
            result.errors.hasPrefix(
                "martlet: The control database \(folder.path)/martlet.db cannot be used: "
            )
        )
        #expect(result.errors.filter(\.isNewline).count == 1)
    }

    @Test func `the folder and its files are their owner's alone`() async throws {
        let server = try await TestServer.start()
        _ = try await server.api.signUp("alice")
        let files = try await ProgramRun.run(["find", server.process.dataFolder, "-perm", "/077"])
        #expect(files.output == "")
        await server.process.stop()
    }

    @Test func `a folder that cannot be written is told`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/data"
        mkdir(path, 0o755)
        chmod(folder.path, 0o755)
        chmod(path, 0o555)
        // Root may write everywhere, so somebody else is asked, who must be able to run the program.
        var wrapper: [String] = []
        if getuid() == 0 {
            wrapper = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
            guard try await ProgramRun.run(wrapper + [ProductPath.martlet, "version"]).status == 0 else {
                return
            }
        }
        let result = try await ProgramRun.run(
            wrapper + [ProductPath.martlet, "serve", "--data", path, "--port", "0"]
        )
        #expect(result.status == 2)
        #expect(result.errors == "martlet: The data folder \(path) cannot be written: Permission denied.\n")
        chmod(path, 0o755)
    }

    @Test func `on a full disk writes fail, reads go on, and writes work when there is room again`()
        async throws
    {
        let folder = try TemporaryFolder()
        let mount = folder.path + "/disk"
        mkdir(mount, 0o755)
        let mounted = try await ProgramRun.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", mount])
        // Only root may mount.
        guard mounted.status == 0 else { return }
        do {
            try await fillAndFree(mount)
        } catch {
            _ = try await ProgramRun.run(["umount", "-l", mount])
            throw error
        }
        #expect(try await ProgramRun.run(["umount", mount]).status == 0)
    }

    private func fillAndFree(_ mount: String) async throws {
        let process = try await ServerProcess(dataFolder: mount + "/data", arguments: pinnedApp)
        let api = API(port: process.port)
        let alice = try await api.signUp("alice")
        _ = try await ProgramRun.run(["bash", "-c", "head -c 10m /dev/zero > '\(mount)/filler'"])
        let note = String(repeating: "x", count: 30_000)
        var failed: HTTPReply?
        for number in 0..<200 where failed == nil {
            let reply = try await api.call(
                "PUT",
                "/users/\(alice.id)",
                ["note": .string("\(number)" + note)],
                token: alice.token
            )
            if reply.status != 200 { failed = reply }
        }
        let refusal = try #require(failed)
        try expectFault(refusal)
        for _ in 0..<3 {
            try expectFault(
                try await api.call("PUT", "/users/\(alice.id)", ["note": .string(note)], token: alice.token)
            )
            #expect(try await api.call("GET", "/users/me", token: alice.token)["username"] == "alice")
            #expect(try await api.call("GET", "/users", asMaster: true).status == 200)
        }
        #expect((await api.client.connectionsOpened) == 1)

        unlink(mount + "/filler")
        let after = try await api.call("PUT", "/users/\(alice.id)", ["note": "after"], token: alice.token)
        #expect(after.status == 200, "\(after.text)")
        #expect(try await api.call("GET", "/users/me", token: alice.token)["note"] == "after")
        #expect(await process.stop().status == 0)

        let again = try await ServerProcess(dataFolder: mount + "/data", arguments: pinnedApp)
        let kept = try await API(port: again.port).call("GET", "/users/me", token: alice.token)
        #expect(kept["note"] == "after")
        await again.stop()
    }

    @Test func `a file that may not grow further ends no server`() async throws {
        let folder = try TemporaryFolder()
        let process = try await ServerProcess(
            dataFolder: folder.path + "/data",
            arguments: pinnedApp,
            // The signal that goes with the limit may be ignored by whoever runs the tests.
            wrapper: [
                "python3", "-c",
                """
                import os, resource, signal, sys
                signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
                resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
                os.execvp(sys.argv[1], sys.argv[1:])
                """,
            ]
        )
        let api = API(port: process.port)
        let alice = try await api.signUp("alice")
        let note = String(repeating: "x", count: 30_000)
        var failed: HTTPReply?
        for number in 0..<200 where failed == nil {
            let reply = try await api.call(
                "PUT",
                "/users/\(alice.id)",
                ["note": .string("\(number)" + note)],
                token: alice.token
            )
            if reply.status != 200 { failed = reply }
        }
        try expectFault(try #require(failed))
        #expect(try await api.call("GET", "/users/me", token: alice.token)["username"] == "alice")
        #expect(await process.stop().status == 0)
    }

    private func expectFault(_ reply: HTTPReply) throws {
        #expect(reply.status == 500)
        #expect(
            reply.json == [
                "code": 1, "message": "Internal server error.", "error": "Internal server error.",
            ],
            "\(reply.text)"
        )
        #expect(!reply.closes)
    }
}
