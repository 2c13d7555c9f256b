package io.verbena.cli.autoscale;

import io.verbena.cli.autoscale.AutoscaleBenchmark.Figure;
import io.verbena.cli.autoscale.AutoscaleBenchmark.Part;
import io.verbena.cli.console.OptionRange;
import io.verbena.cli.console.OutputFile;
import io.verbena.cli.console.ExitStatus;
import io.verbena.server.HealthServer;

import org.agrona.concurrent.SystemEpochClock;
import org.agrona.concurrent.SystemNanoClock;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;

/** {@code verbena bench autoscale}. */
@Command(
    name = "autoscale",
    description = "Measure how compute nodes follow a load: joining from spares, a load that becomes four times as " +
        "large within a second while each node has a fifth of a processor, and the policy on loads of a day. " +
        "Takes two minutes.",
    footer = {"", "Exit status 0: all goals were reached that could be judged; 1: one was not."})
public final class BenchAutoscaleCommand implements Callable<Integer>
{
    private static final int MOST_SPARES = 10;

    @Spec
    private CommandSpec spec;

    @Option(names = "--spares", paramLabel = "N", defaultValue = "3",
        description = "Compute nodes that are started beforehand, 1 to 10. Default: ${DEFAULT-VALUE}.")
    private int spares;

    @Option(names = "--seconds", paramLabel = "S", defaultValue = "20",
        description = "Length of the high load, 5 to 600. Default: ${DEFAULT-VALUE}.")
    private int seconds;

    @Option(names = "--parts", paramLabel = "PART,...", split = ",",
        description = "Measure these parts alone, separated by commas: policy, joins, quadruple. Default: all.")
    private List<Part> parts;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the figures to this file too.")
    private Path json;

    @Option(names = "--svg", paramLabel = "FILE", description = "Draw load, nodes and 99th percentile to this file.")
    private Path svg;

    @Override
    public Integer call() throws InterruptedException
    {
        OptionRange.check("--spares", spares, 1, MOST_SPARES);
        OptionRange.check("--seconds", seconds, 5, 600);
        final OutputFile output = OutputFile.open("--json", json);
        final OutputFile drawing = OutputFile.open("--svg", svg);
        final PrintWriter out = spec.commandLine().getOut();
        final AutoscaleBenchmark benchmark = new AutoscaleBenchmark(
            null == parts ? EnumSet.allOf(Part.class) : EnumSet.copyOf(parts), spares, seconds, (line) ->
            {
                out.println(line);
                out.flush();
            }, SystemNanoClock.INSTANCE, SystemEpochClock.INSTANCE);
        final List<Figure> figures = benchmark.run();
        out.printf("%n%-56s %14s %14s%n", "figure", "measured", "goal");
        figures.forEach((figure) -> out.println(line(figure)));
        final Map<String, Object> all = new LinkedHashMap<>();
        all.put("figures", figures.stream().map(BenchAutoscaleCommand::members).toList());
        all.put("run", benchmark.details());
        output.write(HealthServer.json(all) + '\n');
        drawing.write(benchmark.plot());
        return figures.stream().allMatch(Figure::isReached) ? ExitStatus.OK : ExitStatus.FAILED;
    }

    private static String line(final Figure figure)
    {
        return String.format(Locale.ROOT, "%-56s %14s %14s%s", figure.name(), figure.isJudged() ?
            String.format(Locale.ROOT, "%,.3f", figure.value()) : "not judged",
            String.format(Locale.ROOT, "<= %,.3f", figure.most()),
            figure.isReached() ? figure.note().isEmpty() ? "" : "  " + figure.note() : "  MISSED" +
                (figure.note().isEmpty() ? "" : ": " + figure.note()));
    }

    private static Map<String, Object> members(final Figure figure)
    {
        final Map<String, Object> members = new LinkedHashMap<>();
        members.put("figure", figure.name());
        members.put("value", figure.isJudged() ? figure.value() : null);
        members.put("at_most", figure.most());
        members.put("reached", figure.isJudged() ? figure.isReached() : null);
        members.put("note", figure.note());
        return members;
    }
}
