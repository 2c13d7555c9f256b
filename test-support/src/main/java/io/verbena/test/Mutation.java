package io.verbena.test;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeModel;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.Label;
import java.lang.classfile.MethodModel;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.instrument.ClassDefinition;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.lang.invoke.MethodType;
import java.lang.reflect.AccessFlag;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import net.bytebuddy.agent.ByteBuddyAgent;

/**
 * Replaces the bodies of methods of loaded classes while a test runs, so that the test can show what production code
 * without one of its checks does. Production code needs no switches for that.
 *
 * <p>{@link #open()} redefines the classes in this process, {@link Opened#close()} restores them. Several may be open
 * at once, but only one of a method. All threads see a mutation, so a process runs no other tests meanwhile. A class,
 * method or replacement that does not exist or does not fit is an error. Threads may share a mutation. Compiled code
 * that used the methods is thrown away each time, so one is opened for a series of runs rather than for each.
 *
 * <p>A method is given by its name, followed by its descriptor ({@code "frozen(J)J"}) if it is overloaded.
 */
public final class Mutation
{
    /** A mutation in force. */
    public interface Opened extends AutoCloseable
    {
        /** Restores the methods; does nothing the second time. */
        @Override
        void close();
    }

    /** Writes the body that a method gets. */
    private interface Body
    {
        void write(CodeBuilder code, MethodModel method);
    }

    /**
     * @param keepsRest whether what the method did stands behind the body.
     * @param condition number, or {@link #ALWAYS}.
     */
    private record Change(Class<?> type, String method, Body body, boolean keepsRest, int condition)
    {
        private boolean isOf(final MethodModel candidate)
        {
            final String name = candidate.methodName().stringValue();
            return method.equals(method.indexOf('(') < 0 ? name : name + candidate.methodType().stringValue());
        }

        private MethodModel target(final ClassModel model)
        {
            final List<MethodModel> found = model.methods().stream().filter(this::isOf).toList();
            if (found.size() != 1 || found.getFirst().code().isEmpty())
            {
                throw new IllegalArgumentException(found.isEmpty() ? "no method " + this + " to mutate" :
                    found.size() > 1 ? "several methods " + this + ": name one with its descriptor" :
                    this + " has no body to mutate");
            }
            return found.getFirst();
        }

        private boolean isOfTheMethodOf(final Change other)
        {
            return type == other.type && method.equals(other.method);
        }

        @Override
        public String toString()
        {
            return type.getName() + '.' + method;
        }
    }

    /** Changes nothing. */
    public static final Mutation NONE = new Mutation(List.of());

    private static final int ALWAYS = -1;
    private static final ClassDesc SELF = ClassDesc.of(Mutation.class.getName());
    private static final List<Change> OPEN = new ArrayList<>();
    private static final List<BooleanSupplier> CONDITIONS = new ArrayList<>();
    private static final Map<Class<?>, byte[]> ORIGINALS = new HashMap<>();
    private static Instrumentation instrumentation;

    private final List<Change> changes;

    private Mutation(final List<Change> changes)
    {
        this.changes = changes;
    }

    private static Mutation of(final Class<?> type, final String method, final Body body)
    {
        return new Mutation(List.of(new Change(type, method, body, false, ALWAYS)));
    }

    /**
     * Makes a method return a constant.
     *
     * @param constant a Boolean, Integer or Long, as the method returns.
     */
    public static Mutation returning(final Class<?> type, final String method, final Object constant)
    {
        return of(type, method, (code, target) ->
        {
            final ClassDesc returned = target.methodTypeSymbol().returnType();
            switch (constant)
            {
                case Boolean value when returned.equals(ConstantDescs.CD_boolean) ->
                    code.loadConstant(value ? 1 : 0).ireturn();
                case Integer value when returned.equals(ConstantDescs.CD_int) ->
                    code.loadConstant(value.intValue()).ireturn();
                case Long value when returned.equals(ConstantDescs.CD_long) ->
                    code.loadConstant(value.longValue()).lreturn();
                default -> throw new IllegalArgumentException(type.getName() + '.' + method + " returns " +
                    returned.displayName() + ", not " + constant.getClass().getSimpleName() + ' ' + constant);
            }
        });
    }

    /** Makes a method that returns nothing do nothing. */
    public static Mutation doingNothing(final Class<?> type, final String method)
    {
        return of(type, method, (code, target) ->
        {
            if (!target.methodTypeSymbol().returnType().equals(ConstantDescs.CD_void))
            {
                throw new IllegalArgumentException(type.getName() + '.' + method + " returns something");
            }
            code.return_();
        });
    }

    /**
     * Makes a method call another one instead.
     *
     * @param bodies      class with the other one, visible to the class that is mutated.
     * @param replacement name of a static method of it that is not private, which takes the same arguments and, if the
     *                    method is not static, before them the object.
     */
    public static Mutation calling(
        final Class<?> type, final String method, final Class<?> bodies, final String replacement)
    {
        return of(type, method, (code, target) ->
        {
            final ClassDesc returned = target.methodTypeSymbol().returnType();
            call(code, target, type, bodies, replacement, returned);
            code.return_(TypeKind.from(returned));
        });
    }

    /**
     * Makes a method call another one first, which returns whether that was all.
     *
     * @param bodies      as for {@link #calling}.
     * @param replacement as for {@link #calling}, but it returns whether the method is done, which then returns
     *                    nothing, 0, false or null; if not, it goes on.
     */
    public static Mutation callingFirst(
        final Class<?> type, final String method, final Class<?> bodies, final String replacement)
    {
        final Body body = (code, target) ->
        {
            final Label original = code.newLabel();
            call(code, target, type, bodies, replacement, ConstantDescs.CD_boolean);
            code.ifeq(original);
            returnZero(code, TypeKind.from(target.methodTypeSymbol().returnType()));
            code.labelBinding(original);
        };
        return new Mutation(List.of(new Change(type, method, body, true, ALWAYS)));
    }

    private static void returnZero(final CodeBuilder code, final TypeKind kind)
    {
        switch (kind.asLoadable())
        {
            case VOID -> { }
            case REFERENCE -> code.aconst_null();
            case LONG -> code.lconst_0();
            case DOUBLE -> code.dconst_0();
            case FLOAT -> code.fconst_0();
            default -> code.iconst_0();
        }
        code.return_(kind);
    }

    private static void call(
        final CodeBuilder code,
        final MethodModel target,
        final Class<?> type,
        final Class<?> bodies,
        final String replacement,
        final ClassDesc returned)
    {
        final boolean isStatic = target.flags().has(AccessFlag.STATIC);
        final MethodTypeDesc own = target.methodTypeSymbol();
        final MethodTypeDesc called =
            (isStatic ? own : own.insertParameterTypes(0, type.describeConstable().orElseThrow()))
                .changeReturnType(returned);
        checkReplacement(type, bodies, replacement, called);
        if (!isStatic)
        {
            code.aload(code.receiverSlot());
        }
        for (int i = 0; i < own.parameterCount(); i++)
        {
            code.loadLocal(TypeKind.from(own.parameterType(i)), code.parameterSlot(i));
        }
        code.invokestatic(bodies.describeConstable().orElseThrow(), replacement, called);
    }

    private static void checkReplacement(
        final Class<?> type, final Class<?> bodies, final String replacement, final MethodTypeDesc descriptor)
    {
        final MethodType wanted =
            MethodType.fromMethodDescriptorString(descriptor.descriptorString(), type.getClassLoader());
        final String name = bodies.getName() + '.' + replacement + descriptor.displayDescriptor();
        try
        {
            final Method found = bodies.getDeclaredMethod(replacement, wanted.parameterArray());
            if (!Modifier.isStatic(found.getModifiers()) || Modifier.isPrivate(found.getModifiers()) ||
                found.getReturnType() != wanted.returnType())
            {
                throw new IllegalArgumentException("private, not static, or with another result: " + name);
            }
        }
        catch (final NoSuchMethodException ex)
        {
            throw new IllegalArgumentException("no replacement " + name, ex);
        }
    }

    /** @return the class of a name that the test cannot write, because the class is another package's. */
    public static Class<?> type(final String name)
    {
        try
        {
            return Class.forName(name, false, Mutation.class.getClassLoader());
        }
        catch (final ClassNotFoundException ex)
        {
            throw new IllegalArgumentException("no class " + name + " to mutate", ex);
        }
    }

    /** @return this mutation and another one. */
    public Mutation and(final Mutation other)
    {
        final List<Change> all = new ArrayList<>(changes);
        all.addAll(other.changes);
        return new Mutation(List.copyOf(all));
    }

    /** @return this mutation for as long as a condition holds, which each call of a mutated method asks. */
    public Mutation when(final BooleanSupplier condition)
    {
        synchronized (OPEN)
        {
            CONDITIONS.add(condition);
            final int number = CONDITIONS.size() - 1;
            return new Mutation(changes.stream()
                .map(change -> new Change(change.type, change.method, change.body, change.keepsRest, number)).toList());
        }
    }

    /** Called by mutated methods. @return whether the condition of a number holds. */
    public static boolean holds(final int condition)
    {
        return CONDITIONS.get(condition).getAsBoolean();
    }

    /**
     * Replaces the methods.
     *
     * @return what restores them.
     * @throws IllegalArgumentException if a method or its replacement does not exist or does not fit.
     * @throws IllegalStateException    if one of the methods is replaced already.
     */
    public Opened open()
    {
        synchronized (OPEN)
        {
            for (final Change change : changes)
            {
                if (OPEN.stream().anyMatch(change::isOfTheMethodOf))
                {
                    throw new IllegalStateException(change + " is mutated already");
                }
            }
            OPEN.addAll(changes);
            try
            {
                redefine();
            }
            catch (final RuntimeException ex)
            {
                OPEN.removeAll(changes);
                throw ex;
            }
        }
        final AtomicBoolean isClosed = new AtomicBoolean();
        return () ->
        {
            if (!isClosed.getAndSet(true))
            {
                restore();
            }
        };
    }

    private void restore()
    {
        synchronized (OPEN)
        {
            OPEN.removeAll(changes);
            redefine();
        }
    }

    /** Gives the classes that this one is about the bodies that follow from all that is open. */
    private void redefine()
    {
        final Set<Class<?>> types = new LinkedHashSet<>();
        changes.forEach(change -> types.add(change.type));
        final ClassDefinition[] definitions =
            types.stream().map(type -> new ClassDefinition(type, mutated(type))).toArray(ClassDefinition[]::new);
        try
        {
            if (definitions.length > 0)
            {
                instrumentation().redefineClasses(definitions);
            }
        }
        catch (final ClassNotFoundException | UnmodifiableClassException | LinkageError ex)
        {
            throw new IllegalStateException("these classes cannot be mutated: " + changes, ex);
        }
    }

    private static Instrumentation instrumentation()
    {
        if (instrumentation == null)
        {
            instrumentation = ByteBuddyAgent.install();
        }
        return instrumentation;
    }

    private static byte[] mutated(final Class<?> type)
    {
        byte[] bytes = ORIGINALS.computeIfAbsent(type, Mutation::read);
        for (final Change change : OPEN)
        {
            bytes = change.type == type ? mutated(bytes, change) : bytes;
        }
        return bytes;
    }

    private static byte[] read(final Class<?> type)
    {
        final String name = type.getName();
        try (InputStream stream = type.getResourceAsStream(name.substring(name.lastIndexOf('.') + 1) + ".class"))
        {
            return stream.readAllBytes();
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException("class file of " + name, ex);
        }
    }

    private static byte[] mutated(final byte[] bytes, final Change change)
    {
        final ClassFile classFile = ClassFile.of();
        final ClassModel model = classFile.parse(bytes);
        final MethodModel target = change.target(model);
        return classFile.transformClass(model, (classes, member) ->
        {
            if (member == target)
            {
                classes.transformMethod(target, (methods, part) ->
                {
                    if (part instanceof CodeModel code)
                    {
                        methods.transformCode(code, body(change, target));
                    }
                    else
                    {
                        methods.with(part);
                    }
                });
            }
            else
            {
                classes.with(member);
            }
        });
    }

    private static CodeTransform body(final Change change, final MethodModel target)
    {
        return new CodeTransform()
        {
            @Override
            public void atStart(final CodeBuilder code)
            {
                if (change.condition == ALWAYS)
                {
                    change.body.write(code, target);
                    return;
                }
                final Label original = code.newLabel();
                code.loadConstant(change.condition);
                code.invokestatic(
                    SELF, "holds", MethodTypeDesc.of(ConstantDescs.CD_boolean, ConstantDescs.CD_int));
                code.ifeq(original);
                change.body.write(code, target);
                code.labelBinding(original);
            }

            @Override
            public void accept(final CodeBuilder code, final CodeElement element)
            {
                if (change.keepsRest || change.condition != ALWAYS)
                {
                    code.with(element);
                }
            }
        };
    }

    /** @return the value of an object's field, for replacements of methods that use private ones. */
    public static <T> T field(final Object object, final String name, final Class<T> type)
    {
        try
        {
            final Field field = object.getClass().getDeclaredField(name);
            field.setAccessible(true);
            return type.cast(field.get(object));
        }
        catch (final ReflectiveOperationException ex)
        {
            throw new IllegalArgumentException("no field " + object.getClass().getName() + '.' + name, ex);
        }
    }

    @Override
    public String toString()
    {
        return "Mutation" + changes;
    }
}
