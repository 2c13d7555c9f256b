package io.verbena.cli.fabric;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.OutputFile;
import io.verbena.elle.history.JsonWriter;
import io.verbena.rdma.conformance.ConformancePath;
import io.verbena.rdma.conformance.ConformanceRun;
import io.verbena.rdma.conformance.RuleResult;
import io.verbena.rdma.conformance.RuleResult.Verdict;
import org.agrona.concurrent.SystemNanoClock;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/** {@code verbena fabric check}: the conformance suite on a device. */
@Command(
    name = "check",
    description = {
        "Check a device against the verbs contract, rule by rule. Two nodes are opened on it, requester and " +
        "responder. A rule passes, fails, or is unsupported, which it may only be when the allow-list of the " +
        "provider names it with a reason; a rule that is on the list and passes fails."},
    footer = {"",
        "Exit status 0: no rule failed; 1: one did; 64: no such device; 69: it cannot be used here.", "",
        "Examples: verbena fabric check --device soft",
        "          verbena fabric check --device ibverbs:rxe0 --rules Protection --json result.json"})
final class FabricCheckCommand implements Callable<Integer>
{
    @Spec
    private CommandSpec spec;

    @Option(names = {"-d", "--device"}, paramLabel = "D", required = true,
        description = "The device: soft, soft:DIRECTORY, roce:ADDRESS, sim:SEED, ibverbs:DEVICE; see fabric.")
    private String device;

    @Option(names = "--across-processes", description = "Open the responder in a process of its own.")
    private boolean acrossProcesses;

    @Option(names = "--across-hosts",
        description = "Open the responder as another host has it, so that messages take the network; of " +
            "soft:DIRECTORY,network=ADDRESS. With --across-processes also in a process of its own.")
    private boolean acrossHosts;

    @Option(names = "--rules", paramLabel = "PATTERN", defaultValue = "",
        description = "Only rules whose name, Contract.rule, contains this regular expression.")
    private String rules;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the results to this file too.")
    private Path json;

    private String group = "";

    @Override
    public Integer call()
    {
        final Pattern pattern = pattern();
        final OutputFile output = OutputFile.open("--json", json);
        try (ConformancePath path = path())
        {
            return check(path, pattern, output);
        }
    }

    private int check(final ConformancePath path, final Pattern pattern, final OutputFile output)
    {
        final List<RuleResult> results =
            ConformanceRun.run(path, pattern, SystemNanoClock.INSTANCE::nanoTime, this::print);
        if (results.isEmpty())
        {
            throw new CommandFailedException(ExitStatus.USAGE, "--rules " + rules + ": no rule has such a name", null);
        }
        final PrintWriter out = spec.commandLine().getOut();
        out.printf("%n%d rules on %s: %d pass, %d fail, %d unsupported%n", results.size(), path,
            count(results, Verdict.PASS), count(results, Verdict.FAIL), count(results, Verdict.UNSUPPORTED));
        out.flush();
        output.write(json(path, results));
        return count(results, Verdict.FAIL) == 0 ? ExitStatus.OK : ExitStatus.FAILED;
    }

    /** The path, after its devices could be opened once. */
    private ConformancePath path()
    {
        return FabricDevice.on(device, () ->
        {
            final ConformancePath path = !acrossHosts ?
                acrossProcesses ? ConformancePath.acrossProcesses(device) : ConformancePath.of(device) :
                acrossProcesses ? ConformancePath.acrossHostsAndProcesses(device) :
                ConformancePath.acrossHosts(device);
            path.rigs().get().close();
            return path;
        });
    }

    private Pattern pattern()
    {
        try
        {
            return Pattern.compile(rules);
        }
        catch (final PatternSyntaxException ex)
        {
            throw new CommandFailedException(
                ExitStatus.USAGE, "--rules " + rules + ": no regular expression: " + ex.getDescription(), ex);
        }
    }

    private void print(final RuleResult result)
    {
        final PrintWriter out = spec.commandLine().getOut();
        if (!group.equals(result.group()))
        {
            group = result.group();
            out.println(group);
        }
        final String verdict = result.verdict().name().toLowerCase(Locale.ROOT);
        out.printf("  %-12s %s%s%n", verdict, result.rule(), result.detail().isEmpty() ? "" : ": " + result.detail());
        out.flush();
    }

    private static long count(final List<RuleResult> results, final Verdict verdict)
    {
        return results.stream().filter(result -> result.verdict() == verdict).count();
    }

    private static String json(final ConformancePath path, final List<RuleResult> results)
    {
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("device", path.name());
        fields.put("rules", (long)results.size());
        for (final Verdict verdict : Verdict.values())
        {
            fields.put(verdict.name().toLowerCase(Locale.ROOT), count(results, verdict));
        }
        fields.put("results", results.stream().map(FabricCheckCommand::fields).toList());
        final StringBuilder text = new StringBuilder();
        JsonWriter.appendValue(text, fields);
        return text.append('\n').toString();
    }

    private static Map<String, Object> fields(final RuleResult result)
    {
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("group", result.group());
        fields.put("rule", result.rule());
        fields.put("verdict", result.verdict().name().toLowerCase(Locale.ROOT));
        fields.put("detail", result.detail());
        fields.put("duration_ns", result.durationNs());
        return fields;
    }
}
