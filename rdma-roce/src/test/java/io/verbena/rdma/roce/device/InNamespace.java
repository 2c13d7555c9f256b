package io.verbena.rdma.roce.device;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Programs of the tests in network namespaces of their own, as root or as root of a user namespace. */
final class InNamespace
{
    private InNamespace()
    {
    }

    /** Runs one to its end; skips the test where none may have a namespace. @return what it printed. */
    static String run(final Class<?> main, final List<String> arguments) throws IOException, InterruptedException
    {
        final List<String> command = new ArrayList<>(prefix());
        assumeTrue(!command.isEmpty(), "no network namespaces can be made here: 'unshare --net' and 'ip' as root");
        command.addAll(java(main, arguments));
        final Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try
        {
            return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
        finally
        {
            process.destroyForcibly().waitFor();
        }
    }

    /** The command that runs a program with the classes and flags of this process. */
    static List<String> java(final Class<?> main, final List<String> arguments)
    {
        final List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .filter(flag -> flag.startsWith("--") || flag.startsWith("-XX:")).forEach(command::add);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(arguments);
        return command;
    }

    /** The words before a command that give it a namespace where veth can be made; empty where it may not have one. */
    private static List<String> prefix() throws InterruptedException
    {
        for (final List<String> prefix :
            List.of(List.of("unshare", "--net"), List.of("unshare", "--net", "--map-root-user")))
        {
            final List<String> command = new ArrayList<>(prefix);
            command.addAll(List.of("ip", "link", "add", "near", "type", "veth", "peer", "name", "far"));
            try
            {
                if (new ProcessBuilder(command).redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD).start().waitFor() == 0)
                {
                    return prefix;
                }
            }
            catch (final IOException ex)
            {
                // The program is not installed.
                return List.of();
            }
        }
        return List.of();
    }
}
