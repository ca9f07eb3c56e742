// Objects: virtual methods, pointers, new and delete, this, references, templates.
class Animal;

class Listener
  {
public:
   virtual void      OnSound(const string sound, Animal *source) = 0;
  };

class Animal
  {
protected:
   string            m_name;
   Animal           *m_friend;

public:
                     Animal(const string name) : m_name(name), m_friend(NULL) { }
   virtual          ~Animal(void) { Print("gone ", m_name); }
   virtual string    Sound(void) const = 0;
   string            Name(void) const { return(m_name); }
   void              Befriend(Animal *other) { m_friend = other; }
   Animal           *Friend(void) const { return(m_friend); }
   void              Rename(const string name) { this.m_name = name; }
   void              Tell(Listener *listener);
  };

void Animal::Tell(Listener *listener) { listener.OnSound(Sound(), GetPointer(this)); }

class Dog : public Animal
  {
public:
                     Dog(const string name) : Animal(name) { }
   virtual string    Sound(void) const override { return("wuff"); }
   Dog              *Self(void) { return(&this); }
   int               Legs(void) const { return(4); }
  };

class Cat : public Animal
  {
public:
                     Cat(void) : Animal("cat") { }
   virtual string    Sound(void) const { return("miau"); }
  };

class Ear : public Listener
  {
private:
   int               m_count;

public:
                     Ear(void) : m_count(0) { }
   virtual void      OnSound(const string sound, Animal *source)
     {
      m_count++;
      Print(source.Name(), " says ", sound, ", ", m_count);
     }
  };

template<typename T>
T Larger(const T a, const T b) { return(a > b ? a : b); }

class Zoo
  {
private:
   Animal           *m_animals[];
   Dog               m_dog;

public:
                     Zoo(void) : m_dog("inner") { }
                    ~Zoo(void)
     {
      for(int i = 0; i < ArraySize(m_animals); i++)
         delete m_animals[i];
     }
   void              Add(Animal *animal)
     {
      const int size = ArraySize(m_animals);
      ArrayResize(m_animals, size + 1);
      m_animals[size] = animal;
     }
   Animal           *At(const int index) { return(m_animals[index]); }
   int               Size(void) const { return(ArraySize(m_animals)); }
   int               Legs(void) { return(m_dog.Legs()); }
  };

void Change(Animal &animal) { animal.Rename(animal.Name() + "2"); }

string Look(const Animal &animal) { return(animal.Name() + ":" + animal.Sound()); }

Zoo g_zoo;

void OnStart(void)
  {
   Dog *dog = new Dog("rex");
   g_zoo.Add(dog);
   g_zoo.Add(new Cat);
   g_zoo.At(0).Befriend(g_zoo.At(1));
   Print(dog.Friend().Name(), " ", dog.Self().Self().Legs(), " ", g_zoo.Legs(), " ", g_zoo.Size());
   Change(dog);
   Change(*dog);
   Animal *second = g_zoo.At(1);
   Print(Look(dog), " ", Look(second));
   Ear ear;
   dog.Tell(&ear);
   g_zoo.At(1).Tell(GetPointer(ear));
   Animal *animal = dog;
   Dog *again = dynamic_cast<Dog *>(animal);
   Cat *cat = dynamic_cast<Cat *>(animal);
   Print(again == dog, " ", cat == NULL, " ", ((Dog *)animal).Legs());
   Print(CheckPointer(dog) == POINTER_DYNAMIC, " ", CheckPointer(&ear) == POINTER_AUTOMATIC, " ",
         CheckPointer(cat) == POINTER_INVALID, " ", Larger(2, 3), " ", Larger("a", "b"));
   Dog *short_lived = new Dog("bello");
   delete short_lived;
   Print(CheckPointer(short_lived) == POINTER_INVALID);
   short_lived = NULL;
   if(!short_lived)
      Print("no dog");
  }
