package io.verbena.rdma.fabric;

import io.verbena.rdma.spi.FabricProvider;
import io.verbena.rdma.spi.ProcessRole;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.RdmaException;

import java.util.Comparator;
import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.Collectors;

/**
 * Opens fabrics by name: {@code PROVIDER} or {@code PROVIDER:ARGUMENT}, such as {@code soft} or
 * {@code soft:/dev/shm/mine}. Thread-safe.
 */
public final class Fabrics
{
    private Fabrics()
    {
    }

    /** @return the providers on the class path, by name. */
    public static List<FabricProvider> providers()
    {
        return ServiceLoader.load(FabricProvider.class).stream()
            .map(ServiceLoader.Provider::get).sorted(Comparator.comparing(FabricProvider::name)).toList();
    }

    /** Has each provider do what it needs once a process and what takes long, without opening anything; any thread. */
    public static void prepare()
    {
        providers().forEach(FabricProvider::prepare);
    }

    /**
     * Opens a fabric.
     *
     * @param name as above.
     * @return the fabric, closed by the caller.
     * @throws RdmaException when there is no such provider or it cannot be used here; one line that says what to do.
     */
    public static Fabric open(final String name)
    {
        return open(name, ProcessRole.APPLICATION);
    }

    /**
     * Opens a fabric for a node of a cluster, or what works beside one.
     *
     * @param name as above.
     * @param role what this process is to its peers.
     * @return the fabric, closed by the caller.
     * @throws RdmaException when there is no such provider or it cannot be used here; one line that says what to do.
     */
    public static Fabric open(final String name, final ProcessRole role)
    {
        final int colon = name.indexOf(':');
        final String provider = colon < 0 ? name : name.substring(0, colon);
        final List<FabricProvider> providers = providers();
        for (final FabricProvider candidate : providers)
        {
            if (candidate.name().equals(provider))
            {
                return candidate.open(colon < 0 ? "" : name.substring(colon + 1), role);
            }
        }
        throw new RdmaException(
            "no such fabric: '" + name + "'; there are: " + providers.stream()
                .map(known -> known.name() + "[:" + known.argumentSyntax() + "]").collect(Collectors.joining(", ")));
    }
}
