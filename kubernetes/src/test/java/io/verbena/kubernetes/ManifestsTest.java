package io.verbena.kubernetes;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/** What is in {@code deploy/kubernetes}: fields and references that exist. */
class ManifestsTest
{
    private static final Path FOLDER = Path.of(System.getProperty("user.dir")).resolveSibling("deploy/kubernetes");
    private static final KubernetesSerialization SERIALIZATION = new KubernetesSerialization();
    private static final String RUN = "run";

    private final List<HasMetadata> all = new ArrayList<>();

    @BeforeEach
    void read() throws IOException
    {
        try (Stream<Path> files = Files.list(FOLDER))
        {
            for (final Path file : files.sorted().toList())
            {
                for (final String document : Files.readString(file).split("(?m)^---$"))
                {
                    final HasMetadata resource = SERIALIZATION.unmarshal(document);
                    assertThat(resource).as("%s", file).isNotNull();
                    all.add(resource);
                }
            }
        }
    }

    private <T extends HasMetadata> List<T> all(final Class<T> type)
    {
        return all.stream().filter(type::isInstance).map(type::cast).toList();
    }

    private Map<String, PodTemplateSpec> templates()
    {
        final Map<String, PodTemplateSpec> templates = new TreeMap<>();
        all(StatefulSet.class).forEach((set) -> put(set, set.getSpec().getTemplate(), templates));
        all(Deployment.class).forEach((set) -> put(set, set.getSpec().getTemplate(), templates));
        return templates;
    }

    private static void put(
        final HasMetadata set, final PodTemplateSpec template, final Map<String, PodTemplateSpec> templates)
    {
        templates.put(set.getMetadata().getName(), template);
    }

    @Test
    void shouldHaveEachRole()
    {
        assertThat(templates().keySet()).containsExactly(
            "verbena-autoscaler", "verbena-compute", "verbena-memory", "verbena-meta");
        assertThat(all).hasSize(10);
    }

    /** A model keeps what it does not know, and Kubernetes refuses or drops it: a misspelt field, or a wrong place. */
    @Test
    void shouldHaveFieldsThatExistOnly()
    {
        all.forEach((resource) ->
            assertThat(unknown(resource)).as(resource.getMetadata().getName()).isEmpty());
        final HasMetadata wrong = SERIALIZATION.unmarshal(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: x\nspec:\n  replica: 3\n");
        assertThat(unknown(wrong)).containsExactly("replica");
    }

    private static Set<String> unknown(final Object model)
    {
        final Set<String> names = new HashSet<>();
        collect(model, names);
        return names;
    }

    /** Through all parts of a model; each has what it did not know in its additional properties. */
    private static void collect(final Object part, final Set<String> names)
    {
        if (part instanceof final Iterable<?> parts)
        {
            parts.forEach((each) -> collect(each, names));
        }
        else if (null != part && part.getClass().getName().startsWith("io.fabric8.kubernetes.api.model"))
        {
            for (final Method method : part.getClass().getMethods())
            {
                if (!method.getName().startsWith("get") || method.getParameterCount() > 0 || part instanceof Enum)
                {
                    continue;
                }
                try
                {
                    final Object value = method.invoke(part);
                    if ("getAdditionalProperties".equals(method.getName()))
                    {
                        ((Map<?, ?>)value).keySet().forEach((name) -> names.add(name.toString()));
                    }
                    else
                    {
                        collect(value, names);
                    }
                }
                catch (final ReflectiveOperationException ex)
                {
                    throw new IllegalStateException(ex);
                }
            }
        }
    }

    /** Whether the options exist is for the test of documents, which knows all commands. */
    @Test
    void shouldStartTheRoleThatTheContainerIsCalledAfter()
    {
        templates().forEach((name, template) ->
        {
            final Container container = template.getSpec().getContainers().getFirst();
            assertThat(container.getArgs().getFirst()).as(name).isEqualTo(container.getName());
            assertThat(container.getArgs()).as(name).noneMatch((word) -> word.contains("$(") &&
                container.getEnv().stream().noneMatch((each) -> word.contains("$(" + each.getName() + ')')));
        });
    }

    @Test
    void shouldReferToWhatIsThere()
    {
        final Set<String> services = new HashSet<>();
        all(Service.class).forEach((service) ->
        {
            services.add(service.getMetadata().getName());
            assertThat(templates().values()).as(service.getMetadata().getName()).anyMatch((template) ->
                template.getMetadata().getLabels().entrySet().containsAll(service.getSpec().getSelector().entrySet()));
        });
        all(StatefulSet.class).forEach((set) ->
        {
            assertThat(services).contains(set.getSpec().getServiceName());
            assertThat(set.getSpec().getSelector().getMatchLabels())
                .isEqualTo(set.getSpec().getTemplate().getMetadata().getLabels());
        });
        all(Deployment.class).forEach((set) -> assertThat(set.getSpec().getSelector().getMatchLabels())
            .isEqualTo(set.getSpec().getTemplate().getMetadata().getLabels()));
        templates().forEach((name, template) ->
        {
            final Container container = template.getSpec().getContainers().getFirst();
            final Set<String> volumes = new HashSet<>();
            template.getSpec().getVolumes().stream().map(Volume::getName).forEach(volumes::add);
            all(StatefulSet.class).stream().filter((set) -> name.equals(set.getMetadata().getName()))
                .forEach((set) -> set.getSpec().getVolumeClaimTemplates()
                    .forEach((claim) -> volumes.add(claim.getMetadata().getName())));
            assertThat(container.getVolumeMounts()).as(name).isNotEmpty()
                .allMatch((mount) -> volumes.contains(mount.getName()));
            assertThat(template.getSpec().getInitContainers().getFirst().getVolumeMounts())
                .allMatch((mount) -> volumes.contains(mount.getName()))
                .anyMatch((mount) -> RUN.equals(mount.getName()));
            container.getArgs().stream().filter((word) -> word.startsWith("--cluster=")).forEach((word) ->
                assertThat(services).contains(word.replaceAll(".*//|:\\d+$", "")));
        });
    }

    /** As many rights as {@link KubernetesLauncher} needs for the workload that the autoscaler is given. */
    @Test
    void shouldGiveTheAutoscalerItsRightsAndNoMore()
    {
        final PodTemplateSpec autoscaler = templates().get("verbena-autoscaler");
        final String account = all(ServiceAccount.class).getFirst().getMetadata().getName();
        assertThat(autoscaler.getSpec().getServiceAccountName()).isEqualTo(account);
        final RoleBinding binding = all(RoleBinding.class).getFirst();
        assertThat(binding.getSubjects()).singleElement().satisfies((subject) ->
            assertThat(subject.getName()).isEqualTo(account));
        final Role role = all(Role.class).getFirst();
        assertThat(binding.getRoleRef().getName()).isEqualTo(role.getMetadata().getName());
        final String workload = all(Deployment.class).getFirst().getMetadata().getName();
        assertThat(autoscaler.getSpec().getContainers().getFirst().getArgs())
            .contains("--workload=deployment/" + workload);
        final PolicyRule scale = role.getRules().getFirst();
        assertThat(scale.getResourceNames()).containsExactly(workload);
        assertThat(scale.getResources()).containsExactly("deployments/scale");
        assertThat(scale.getVerbs()).containsExactlyInAnyOrder("get", "update");
        assertThat(role.getRules().get(1).getResources()).containsExactly("pods");
        assertThat(role.getRules().get(1).getVerbs()).containsExactlyInAnyOrder("get", "patch");
        assertThat(role.getRules()).hasSize(2);
    }
}
