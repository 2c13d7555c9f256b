package io.verbena.cli.doctor;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.OptionRange;
import io.verbena.server.HealthServer;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;

/** {@code verbena doctor}. */
@Command(
    name = "doctor",
    description = "Check whether this machine is fit for a cluster: limits, memory, clock, processors, devices; and " +
        "say what to change.",
    footer = {"", "Exit status 0: nothing will fail, though there may be warnings; 1: something will."})
public final class DoctorCommand implements Callable<Integer>
{
    private static final int MOST_MEMORY_MIB = 1 << 30;
    private static final int MOST_PORT = 65_535;

    @Spec
    private CommandSpec spec;

    @Option(names = "--memory", paramLabel = "MIB", defaultValue = "256",
        description = "What memory nodes are to have on this machine, together. Default: ${DEFAULT-VALUE}.")
    private int memoryMib = 256;

    @Option(names = "--port", paramLabel = "PORT", defaultValue = "7373",
        description = "Where a meta server is to listen. Default: ${DEFAULT-VALUE}.")
    private int port = 7_373;

    @Option(names = "--root", paramLabel = "DIR", defaultValue = "/",
        description = "Folder with proc, sys and dev of the machine, where a container has them elsewhere. " +
            "Default: ${DEFAULT-VALUE}.")
    private Path root;

    @Option(names = "--json", description = "As one JSON object.")
    private boolean json;

    @Override
    public Integer call()
    {
        OptionRange.check("--memory", memoryMib, 1, MOST_MEMORY_MIB);
        OptionRange.check("--port", port, 1, MOST_PORT);
        if (!Files.isDirectory(root.resolve("proc")))
        {
            throw new CommandFailedException(ExitStatus.USAGE,
                "--root " + root + ": there is no folder proc in it; name the folder that holds proc, sys and dev",
                null);
        }
        final List<Finding> findings = MachineChecks.of(new Machine(root, Runtime.getRuntime().availableProcessors(),
            Runtime.version().feature(), (long)memoryMib << 20, port));
        final boolean isFit = findings.stream().noneMatch((each) -> Finding.Level.ERROR == each.level());
        final PrintWriter out = spec.commandLine().getOut();
        out.print(json ? HealthServer.json(figures(findings, isFit)) + '\n' : text(findings));
        out.flush();
        return isFit ? ExitStatus.OK : ExitStatus.FAILED;
    }

    private static String text(final List<Finding> findings)
    {
        final StringBuilder text = new StringBuilder();
        for (final Finding finding : findings)
        {
            text.append(String.format(Locale.ROOT, "%-8s %-16s %s%n", name(finding), finding.check(), finding.value()));
            if (!finding.advice().isEmpty())
            {
                text.append(String.format(Locale.ROOT, "%-8s %-16s -> %s%n", "", "", finding.advice()));
            }
        }
        final long errors = count(findings, Finding.Level.ERROR);
        final long warnings = count(findings, Finding.Level.WARNING);
        text.append(String.format(Locale.ROOT, "%s: %d to change first (error), %d that may wait (warning)%n",
            0 == errors ? "fit" : "not fit", errors, warnings));
        return text.toString();
    }

    private static long count(final List<Finding> findings, final Finding.Level level)
    {
        return findings.stream().filter((finding) -> level == finding.level()).count();
    }

    private static Map<String, Object> figures(final List<Finding> findings, final boolean isFit)
    {
        final Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("fit", isFit);
        figures.put("findings", findings.stream().map((finding) ->
        {
            final Map<String, Object> each = new LinkedHashMap<>();
            each.put("check", finding.check());
            each.put("level", name(finding));
            each.put("value", finding.value());
            each.put("advice", finding.advice());
            return each;
        }).toList());
        return figures;
    }

    private static String name(final Finding finding)
    {
        return finding.level().name().toLowerCase(Locale.ROOT);
    }
}
