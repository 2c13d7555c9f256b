package io.verbena.cli.autoscale.launch;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.FileErrors;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A command line of {@code sh} with places for the name of a node and for its host, whose characters mean nothing to a
 * shell.
 *
 * @param option that it was given with.
 * @param text   of the command.
 */
record CommandTemplate(String option, String text)
{
    private static final Pattern PLACE = Pattern.compile("\\{(\\w*)}");
    private static final Set<String> PLACES = Set.of("name", "host");

    /** Refuses one that cannot be meant. */
    CommandTemplate
    {
        final Matcher places = PLACE.matcher(text);
        while (places.find())
        {
            if (!PLACES.contains(places.group(1)))
            {
                throw new CommandFailedException(ExitStatus.USAGE, option + " '" + text + "': " + places.group() +
                    " is no place: {name} and {host} are", null);
            }
        }
        if (!text.contains("{name}"))
        {
            throw new CommandFailedException(ExitStatus.USAGE, option + " '" + text +
                "': must contain {name}, the name of the node", null);
        }
    }

    private String of(final String name, final String host)
    {
        return text.replace("{name}", name).replace("{host}", host);
    }

    /**
     * Runs it for a node and waits until it has ended.
     *
     * @param name      of the node.
     * @param host      of the node.
     * @param timeoutMs after which it is killed.
     * @throws CommandFailedException when it cannot be run, takes too long, or has another exit status than 0.
     */
    void run(final String name, final String host, final long timeoutMs)
    {
        final String command = of(name, host);
        Path output = null;
        try
        {
            // No pipe: what the command leaves running in the background may keep its end open.
            output = Files.createTempFile("verbena-command", ".out");
            final Process process = new ProcessBuilder("/bin/sh", "-c", command)
                .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                .redirectErrorStream(true).redirectOutput(output.toFile()).start();
            await(process, command, timeoutMs);
            if (0 != process.exitValue())
            {
                throw failed(command, "ended with status " + process.exitValue() + lastLine(output));
            }
        }
        catch (final IOException ex)
        {
            throw failed(command, "cannot be run: " + FileErrors.reason(ex));
        }
        finally
        {
            delete(output);
        }
    }

    private void await(final Process process, final String command, final long timeoutMs)
    {
        try
        {
            if (!process.waitFor(timeoutMs, TimeUnit.MILLISECONDS))
            {
                kill(process);
                throw failed(command, "has not ended after " + TimeUnit.MILLISECONDS.toSeconds(timeoutMs) +
                    " s and was killed");
            }
        }
        catch (final InterruptedException ex)
        {
            kill(process);
            throw new CommandFailedException(ExitStatus.INTERRUPTED, "interrupted", ex);
        }
    }

    private static void kill(final Process process)
    {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }

    private CommandFailedException failed(final String command, final String what)
    {
        return new CommandFailedException(ExitStatus.UNAVAILABLE, option + " '" + command + "' " + what, null);
    }

    private static String lastLine(final Path output) throws IOException
    {
        final List<String> lines = Files.readString(output, StandardCharsets.ISO_8859_1).lines()
            .filter((line) -> !line.isBlank()).toList();
        return lines.isEmpty() ? "" : ": " + lines.getLast().strip();
    }

    private static void delete(final Path output)
    {
        try
        {
            if (null != output)
            {
                Files.deleteIfExists(output);
            }
        }
        catch (final IOException ex)
        {
            output.toFile().deleteOnExit(); // of no use, and in nobody's way
        }
    }
}
