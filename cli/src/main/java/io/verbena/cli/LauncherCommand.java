package io.verbena.cli;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.hosts.HostExecCommand;
import io.verbena.cli.hosts.HostsCommand;
import io.verbena.cli.hosts.LinkCommand;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.util.List;
import java.util.concurrent.Callable;

/**
 * Commands that the launcher script carries out itself, here so that {@code --help} shows them. Reached only by someone
 * who starts the class without the script.
 */
abstract class LauncherCommand implements Callable<Integer>
{
    @Spec
    private CommandSpec spec;

    @Override
    public Integer call()
    {
        throw new CommandFailedException(
            ExitStatus.USAGE,
            "'" + spec.name() + "' works on the source tree: run it as ./" + spec.qualifiedName(),
            null);
    }

    /**
     * {@code verbena test}.
     */
    @Command(
        name = "test",
        description = "Build and run every test that any machine can run; ends with Surefire's summary.",
        footer = {"", "Examples: ./verbena test",
            "          ./verbena test -pl kv-table -am -Dtest='Slot*' -Dsurefire.failIfNoSpecifiedTests=false"})
    static final class TestCommand extends LauncherCommand
    {
        @Parameters(paramLabel = "MAVEN-ARG", arity = "0..*",
            description = "Passed on to Maven: modules, tests, properties.")
        private List<String> mavenArguments;
    }

    /**
     * {@code verbena classpath}.
     */
    @Command(
        name = "classpath",
        description = "Build if needed and print the class path, for: " +
            "java @config/jvm.args -cp \"$(./verbena classpath)\" ...")
    static final class ClasspathCommand extends LauncherCommand
    {
    }

    /**
     * {@code verbena java}.
     */
    @Command(
        name = "java",
        description = "Start java of the JDK that was found, with the flags of config/jvm.args and the class path.",
        footer = {"", "Examples: ./verbena java Hello.java",
            "          ./verbena java site.ycsb.Client -t -db io.verbena.load.ycsb.VerbenaDb -P my.properties"})
    static final class JavaCommand extends LauncherCommand
    {
        @Parameters(paramLabel = "JAVA-ARG", arity = "1..*",
            description = "Passed on to java: a class or source file with its arguments, further flags before it.")
        private List<String> javaArguments;
    }

    /**
     * {@code verbena dev}: what its developers need.
     */
    @Command(
        name = "dev",
        description = "For work on Verbena itself: a guest with an RDMA device, emulated hosts.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {GuestCommand.class, HostsCommand.class, HostExecCommand.class, LinkCommand.CutCommand.class,
            LinkCommand.RestoreCommand.class})
    static final class DevCommand implements Callable<Integer>
    {
        @Spec
        private CommandSpec spec;

        @Override
        public Integer call()
        {
            throw new ParameterException(spec.commandLine(), "no command given");
        }
    }

    /**
     * {@code verbena dev guest}.
     */
    @Command(
        name = "guest",
        description = "Run a command in a small virtual machine that has a Soft-RoCE device, rxe0; " +
            "./verbena dev guest --help prints more.",
        footer = {"", "Example: ./verbena dev guest -- ibv_devinfo"})
    static final class GuestCommand extends LauncherCommand
    {
        @Parameters(paramLabel = "-- COMMAND", arity = "1..*", description = "The command and its arguments.")
        private List<String> command;
    }
}
