package io.verbena.cli.role;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.OptionRange;
import io.verbena.compute.ComputeNodeConfiguration;
import io.verbena.compute.figures.OperationTraces;
import io.verbena.server.OtlpExport;

import picocli.CommandLine.Option;

import java.net.URI;
import java.util.concurrent.TimeUnit;

/** Of which operations a compute node keeps traces, and where it sends them. */
final class SlowlogOptions
{
    private static final int LONGEST_US = 1_000_000_000;
    private static final int MOST = 1_000_000_000;

    @Option(names = "--slowlog-threshold-us", paramLabel = "US", defaultValue = "10000",
        description = "'slowlog' shows operations that took so long from their arrival at this node to their answer: " +
            "0 to 1000000000, or -1 for none. Default: ${DEFAULT-VALUE}.")
    private int thresholdUs = 10_000;

    @Option(names = "--slowlog-sample", paramLabel = "N", defaultValue = "10000",
        description = "'slowlog --sampled' shows one operation in N, slow or not, at random: 1 to 1000000000, or 0 " +
            "for none. Default: ${DEFAULT-VALUE}.")
    private int sampleOneIn = 10_000;

    @Option(names = "--otlp-endpoint", paramLabel = "URL",
        description = "Collector of OpenTelemetry that slow and sampled operations are sent to as traces, such as " +
            "http://localhost:4318: OTLP over HTTP, in JSON. Default: none.")
    private String otlpEndpoint;

    /** @return where traces are sent; null: nowhere. */
    URI otlpEndpoint()
    {
        final URI endpoint = null == otlpEndpoint ? null : OtlpExport.endpoint(otlpEndpoint);
        if (null != otlpEndpoint && null == endpoint)
        {
            throw new CommandFailedException(ExitStatus.USAGE, "--otlp-endpoint '" + otlpEndpoint +
                "': must be a URL such as http://localhost:4318", null);
        }
        return endpoint;
    }

    /** @return the configuration that was given, with these. */
    ComputeNodeConfiguration addTo(final ComputeNodeConfiguration configuration)
    {
        OptionRange.check("--slowlog-threshold-us", thresholdUs, -1, LONGEST_US);
        OptionRange.check("--slowlog-sample", sampleOneIn, 0, MOST);
        return configuration
            .slowThresholdNs(thresholdUs < 0 ? OperationTraces.NEVER : TimeUnit.MICROSECONDS.toNanos(thresholdUs))
            .traceOneIn(0 == sampleOneIn ? OperationTraces.NEVER : sampleOneIn);
    }
}
