package io.verbena.cli;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static org.assertj.core.api.Assertions.assertThat;

/** The session of docs/operations.md, typed in: what it prints is what the page says, but for numbers and places. */
@Timeout(300)
class SessionSystemTest
{
    private static final String PROMPT = "$ ";
    private static final String ANYTHING = "...";
    private static final Pattern KILL = Pattern.compile("kill -9 \\d+ +\\((\\S+)\\)");
    private static final long STEP_NS = TimeUnit.SECONDS.toNanos(60);

    /** A command, and what the page says that it prints. */
    private record Step(String command, List<String> said)
    {
    }

    @TempDir
    private Path directory;

    @AfterEach
    void leaveNothingBehind()
    {
        run("down --discard");
    }

    @Test
    void shouldPrintWhatThePageSays() throws IOException
    {
        final List<Step> session = session(SourceTree.text(SourceTree.root().resolve("docs/operations.md")));
        assertThat(session).hasSizeGreaterThan(15).extracting(Step::command)
            .contains("./verbena up --compute-nodes 2", "./verbena down");
        for (final Step step : session)
        {
            final Matcher kill = KILL.matcher(step.command());
            if (kill.matches())
            {
                assertThat(step.said()).isEmpty();
                kill(kill.group(1));
                continue;
            }
            assertThat(step.command()).startsWith("./verbena ");
            assertSays(step);
        }
    }

    /** What reads may be asked again: others need some ms to notice that a process was killed, a user more to type. */
    private void assertSays(final Step step)
    {
        final String command = step.command().substring("./verbena ".length());
        final long deadlineNs = System.nanoTime() + STEP_NS;
        List<String> said = run(command);
        while (!fits(step.said(), said) && command.startsWith("get") && System.nanoTime() - deadlineNs < 0)
        {
            said = run(command);
        }
        assertThat(fits(step.said(), said)).as("$ %s%nsays%n%s%non the page%n%s", step.command(),
            String.join("\n", said), String.join("\n", step.said())).isTrue();
    }

    @Test
    void shouldSeeADrift()
    {
        final List<String> page = List.of("up: verbena://127.0.0.1:42933", ANYTHING, "down");
        assertThat(fits(page, List.of("up: verbena://127.0.0.1:7", "down"))).isTrue();
        assertThat(fits(page, List.of("up: verbena://127.0.0.1:7", "x", "y", "down"))).isTrue();
        assertThat(fits(page, List.of("up: verbena://127.0.0.1:7", "x", "y"))).isFalse();
        assertThat(fits(page, List.of("up: verbena://elsewhere:7", "down"))).isFalse();
        assertThat(fits(page, List.of("up: verbena://127.0.0.1:7", "down", "more"))).isFalse();
        assertThat(fits(List.of("memory-1: 2 records, 2 changed, 16567 bytes written in 661 ms"),
            List.of("memory-1: 2 records, 2 changed, 16568 bytes written in 9 ms"))).isTrue();
        assertThat(fits(List.of("memory-1: 2 records, 2 changed, 16567 bytes written in 661 ms"),
            List.of("memory-1: 1 records, 2 changed, 16568 bytes written in 9 ms"))).isFalse();
        assertThat(session("### A session\n\n```\n$ a b\nc\nd\n$ e\n```\n$ f")).containsExactly(
            new Step("a b", List.of("c", "d")), new Step("e", List.of()));
    }

    private static List<Step> session(final String page)
    {
        final Matcher block = Pattern.compile("### A session\\n.*?```\\n(.*?)```", Pattern.DOTALL).matcher(page);
        assertThat(block.find()).isTrue();
        final List<Step> steps = new ArrayList<>();
        for (final String line : block.group(1).split("\n"))
        {
            if (line.startsWith(PROMPT))
            {
                steps.add(new Step(line.substring(PROMPT.length()), new ArrayList<>()));
            }
            else
            {
                steps.getLast().said().add(line);
            }
        }
        return steps;
    }

    /** Standard output, then standard error. */
    private List<String> run(final String command)
    {
        final List<String> arguments = new ArrayList<>(List.of(command.split(" ")));
        arguments.addAll(List.of("--data", directory.toString()));
        final CommandLines.Result result = CommandLines.run(arguments);
        return (result.out() + result.err()).lines().toList();
    }

    private void kill(final String name) throws IOException
    {
        final Properties entry = new Properties();
        try (Reader reader = Files.newBufferedReader(directory.resolve("processes/" + name + ".properties")))
        {
            entry.load(reader);
        }
        final ProcessHandle process = ProcessHandle.of(Long.parseLong(entry.getProperty("pid"))).orElseThrow();
        process.destroyForcibly();
        process.onExit().join();
    }

    private static boolean fits(final List<String> page, final List<String> said)
    {
        if (page.isEmpty())
        {
            return said.isEmpty();
        }
        final List<String> rest = page.subList(1, page.size());
        if (ANYTHING.equals(page.getFirst()))
        {
            return fits(rest, said) || !said.isEmpty() && fits(page, said.subList(1, said.size()));
        }
        return !said.isEmpty() && without(page.getFirst()).equals(without(said.getFirst())) &&
            fits(rest, said.subList(1, said.size()));
    }

    /** A line without what differs from run to run, and from folder to folder. */
    private static String without(final String line)
    {
        return line
            .replaceAll("health=\\S+", "health=")
            .replaceAll("dashboard=\\S+", "dashboard=")
            .replaceAll("127\\.0\\.0\\.1:\\d+", "127.0.0.1:")
            .replaceAll("soft:/dev/shm/verbena-\\S+", "soft:")
            .replaceAll("^token: /\\S+/token$", "token:")
            .replaceAll("^(try: .*?) --data \\S+$", "$1")
            .replaceAll("^\\d{19}$", "version")
            .replaceAll("\\d+ bytes written in \\d+ ms", "bytes written");
    }
}
