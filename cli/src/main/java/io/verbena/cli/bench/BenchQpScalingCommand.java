package io.verbena.cli.bench;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.OutputFile;
import io.verbena.elle.history.JsonWriter;
import io.verbena.load.verbs.QpScaling;
import io.verbena.load.verbs.QpScalingPlot;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;

/**
 * {@code verbena bench qp-scaling}: what a model of an RNIC predicts for many connections.
 */
@Command(
    name = "qp-scaling",
    description = "Predict throughput over the number of connections of one machine, with a queue pair for each, " +
        "with shared ones and with one DC initiator, by simulation with the costs of an RNIC " +
        "(figure 5 of the RDMAdvisor paper). Time is virtual: the figures are the same on every machine.",
    footer = {"", "Example: verbena bench qp-scaling --json scaling.json --plot scaling.svg"})
final class BenchQpScalingCommand implements Callable<Integer>
{
    private static final int MOST_READ_BYTES = 1 << 20;
    private static final int SEED = 1;

    @Spec
    private CommandSpec spec;

    @Option(names = "--read-bytes", paramLabel = "N", defaultValue = "65536",
        description = "Length of each READ. Default: ${DEFAULT-VALUE}, as in the paper.")
    private int readBytes;

    @Option(names = "--connections", paramLabel = "N", split = ",",
        defaultValue = "1,10,50,100,200,300,400,450,500,600,700,800,900,1000",
        description = "Numbers of connections, ascending. Default: ${DEFAULT-VALUE}.")
    private List<Integer> connections;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the figures to this file too.")
    private Path json;

    @Option(names = "--plot", paramLabel = "FILE", description = "Draw the lines, as an SVG image.")
    private Path plot;

    @Override
    public Integer call()
    {
        check();
        final OutputFile output = OutputFile.open("--json", json);
        final OutputFile image = OutputFile.open("--plot", plot);
        final QpScaling scaling = new QpScaling(readBytes, SEED);
        final PrintWriter out = spec.commandLine().getOut();
        final List<QpScaling.Point> points = new ArrayList<>();
        out.println(
            "connections   a queue pair each: Gb/s   contexts missed   shared queue pairs: Gb/s   " +
            "one DC initiator: Gb/s");
        for (final int count : connections)
        {
            final QpScaling.Point each = scaling.measure(count, QpScaling.Series.QP_PER_CONNECTION);
            final QpScaling.Point shared = scaling.measure(count, QpScaling.Series.SHARED);
            final QpScaling.Point dc = scaling.measure(count, QpScaling.Series.DC_INITIATOR);
            points.addAll(List.of(each, shared, dc));
            out.println(String.format(Locale.ROOT, "%,11d   %25.2f   %13.1f %%   %24.2f   %22.2f",
                count, each.gigabitsPerSecond(), each.missRatio() * 100, shared.gigabitsPerSecond(),
                dc.gigabitsPerSecond()));
            out.flush();
        }
        output.write(json(points));
        image.write(QpScalingPlot.of(points, readBytes, scaling.contextCacheEntries()));
        return ExitStatus.OK;
    }

    private void check()
    {
        if (readBytes < 1 || readBytes > MOST_READ_BYTES)
        {
            throw new CommandFailedException(
                ExitStatus.USAGE, "--read-bytes " + readBytes + ": must be 1 to " + MOST_READ_BYTES, null);
        }
        for (int i = 0; i < connections.size(); i++)
        {
            final int count = connections.get(i);
            if (count < 1 || count > 10_000 || i > 0 && count <= connections.get(i - 1))
            {
                throw new CommandFailedException(
                    ExitStatus.USAGE, "--connections " + count + ": must be 1 to 10000, and ascend", null);
            }
        }
    }

    private String json(final List<QpScaling.Point> points)
    {
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("benchmark", "qp-scaling");
        fields.put("kind", "predicted");
        fields.put("rnic_model", QpScaling.MODEL_NAME);
        fields.put("read_bytes", (long)readBytes);
        fields.put("rows", points.stream().map(QpScaling.Point::fields).toList());
        final StringBuilder text = new StringBuilder();
        JsonWriter.appendValue(text, fields);
        return text.append('\n').toString();
    }
}
