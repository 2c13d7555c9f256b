package io.verbena.load.wire;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The words that start a class of this class path in a JVM of its own, with the flags of this one. */
final class JavaCommand
{
    private JavaCommand()
    {
    }

    static List<String> of(final Class<?> main)
    {
        final List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .filter(flag -> flag.startsWith("--")).forEach(command::add);
        command.addAll(List.of("-XX:+UseSerialGC", "-Xmx256m", "-cp", System.getProperty("java.class.path"),
            main.getName()));
        return command;
    }
}
