-- Every run of wrk ends with one line of JSON, so that nothing has to be read out of its table.

function done(summary, latency, requests)
    local errors = summary.errors
    io.write(string.format(
        '\nRESULT {"requests":%d,"seconds":%.6f,"p50":%.6f,"p99":%.6f,"failures":%d}\n',
        summary.requests, summary.duration / 1e6,
        latency:percentile(50) / 1e6, latency:percentile(99) / 1e6,
        errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
