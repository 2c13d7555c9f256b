package io.verbena.cli.fabric;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code verbena fabric}: what a verbs provider is, can and costs. */
@Command(
    name = "fabric",
    description = "List verbs devices, check them against the contract, measure them.",
    subcommands = {
        FabricListCommand.class,
        FabricInfoCommand.class,
        FabricCheckCommand.class,
        FabricPerfCommand.class},
    footer = {"",
        "A device is named PROVIDER or PROVIDER:ARGUMENT, such as soft, soft:DIRECTORY, sim:SEED, ibverbs:DEVICE,",
        "roce:ADDRESS, roce:[ADDRESS]:PORT, roce:INTERFACE.",
        "soft:DIRECTORY,huge-pages asks for huge pages.",
        "soft:DIRECTORY,network=ADDRESS takes shared memory to peers of this host and RoCEv2 to all others."})
public final class FabricCommand implements Runnable
{
    @Spec
    private CommandSpec spec;

    @Override
    public void run()
    {
        throw new ParameterException(spec.commandLine(), "say what to do: list, info, check or perf");
    }
}
