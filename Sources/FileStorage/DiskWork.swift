import EventLoop
import ParseCore

/// Threads for calls that wait for a disk.
struct DiskWork: Sendable {
    private let pool: BlockingPool

    init(threads: Int, queueLimit: Int) {
        pool = BlockingPool(name: "files", threads: threads, queueLimit: queueLimit)
    }

    /// Runs `body` on one of the threads.
    ///
    /// - Throws: ``FileStoreError/overloaded`` when too much waits, `CancellationError`, or what `body` throws.
    func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        do {
            return try await pool.run(body)
        } catch BlockingPoolError.queueFull {
            throw FileStoreError.overloaded
        } catch BlockingPoolError.shutDown {
            throw FileStoreError.failed("the store is closed")
        }
    }

    /// Runs `body` also for a task that is cancelled, which is when there is most to tidy up.
    func tidy(_ body: @escaping @Sendable () -> Void) async {
        let task = Task { [pool] in try await pool.run(body) }
        // When all threads have too much to do it happens with the last reference instead.
        _ = await task.result
    }

    func shutdown() { pool.shutdown() }
}
